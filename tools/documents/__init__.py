"""Files as they are: found, read by one reader a format, and returned as LangChain documents.

* found and read in parallel: `load`, `files`, `worker_pool` of `parser_process`es
* what a file says of itself: `properties`
* a reader a format: `readers`; `text`, `html` (with `html_content`), `records`, `office/`, `pdf/`
* of LangChain's document loaders: `loaders`
* the results: `sections` under their headings, which know where they begin
* tidied up: `tidy`
"""

__all__ = ["files", "load", "loaders", "readers"]
