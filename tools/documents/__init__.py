"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the metadata that files contain: `properties`
* a reader a format: `readers`; `text`, `mail`, `html` (with `html_content`), `records`, `csv`, `word` and `slides` (in the containers of
  `office`), `opendocument`, `epub`, `pdf` (with `pdf_lines`); headers of tables in all formats: `tables`
* workbooks: `sheets` (`xlsx` with `xlsx_sheet`, `number_format` and `cell_names`) and `ods`, whose sheets `sheet` turns into documents
* the results: `sections` under headings, with the positions of pages and anchors
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
