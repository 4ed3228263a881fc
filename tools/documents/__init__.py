"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the metadata that files contain: `properties`
* a reader a format: `readers`; `text`, `mail`, `html` (with `html_content`), `records` (with `tables`), `word`, `slides` and `sheets` (in
  the containers of `office`), `opendocument`, `epub`, `pdf` (with `pdf_lines`)
* the results: `sections` under headings, with the positions of pages and anchors
* comparing what was read with a raw reading that shares no code with the readers: `fidelity`, `raw_readings` (with `raw_text`, `raw_html`,
  `raw_office`, `raw_sheets`, `raw_numbers`, `raw_pdf`)
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
