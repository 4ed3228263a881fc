"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the metadata that files contain: `properties`
* a reader a format: `readers`; `text`, `mail`, `html` (with `html_content`), `records` (with `tables`), `word`, `slides` (with
  `slide_shapes`, `charts` and `diagrams`) and `sheets` (in the containers of `office`), `opendocument` (with `odf_xml`, `odf_styles`,
  `odf_lists`, `odf_inline`, `odf_objects` and `odf_text`), `ods`, `epub`, `pdf` (with `pdf_lines`)
* in all formats: `equations` as lines of text, `numbers` of list items, `runs` of text with `raised` and lowered digits
* the results: `sections` under headings, with the positions of pages and anchors
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
