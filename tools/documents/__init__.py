"""Files as they are: found, read by one reader a format, and returned as LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* what a file says of itself: `properties`
* a reader a format: `readers`; `text` (also mails), `html` (with `html_content`), `records`, `office` (Microsoft's), `opendocument` (also
  EPUB), `pdf` (with `pdf_lines`)
* the results: `sections` under their headings, which know where they begin
* tidied up: `tidy`
"""

__all__ = ["files", "load", "readers"]
