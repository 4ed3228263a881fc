"""Model calls while an index is built: `extract_elements`, `write_reports`, `summarize_clusters`; `reply_cache` first."""

__all__: list[str] = []
