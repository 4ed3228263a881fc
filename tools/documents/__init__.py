"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the metadata that files contain: `properties`
* texts: `text` (with `wrapped_text`), `markdown`, `html` (with `html_content`, `html_left_out`, `html_styles`, `html_inline`,
  `html_headings` and `html_tables`)
* in all formats: `equations` as lines of text, `raised` and lowered digits
* a reader a format: `readers`; `mail`, `records` (with `tables`), `word`, `slides` and `sheets` (in
  the containers of `office`), `opendocument`, `epub`, `pdf` (with `pdf_lines`)
* the results: `sections` under headings, with the positions of pages and anchors
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
