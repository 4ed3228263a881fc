"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the metadata that files contain: `properties`
* a reader a format: `readers`; `text`, `mail`, `html` (with `html_content`), `records` (with `tables`), `word`, `slides` and `sheets` (in
  the containers of `office`), `opendocument`, `epub`, `pdf` (`pdf_page` reads lines: `pdf_characters`, `pdf_pieces`,
  `pdf_layout`, `pdf_tables`; `pdf_lines` joins them); `raised` writes raised and lowered text
* the results: `sections` under headings, with the positions of pages and anchors
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
