"""What a model is asked while an index is built: `extract_elements`, `write_reports`, `summarize_clusters`; `kept_replies` first."""

__all__: list[str] = []
