"""What a language model is asked while an index is built: names and connections, reports, summaries."""
