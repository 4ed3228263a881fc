"""Find files, parse each with the reader of its format, and return LangChain documents.

* found and read in parallel: `load` (also documents of LangChain's loaders), `files`, `worker_pool`
* the metadata that files contain: `properties`
* a reader a format: `readers`; `records`, `csv`, `slides` (with `slide_shapes`; in the containers of `office`, like `word`), `epub`;
  `pdf` (with `pdf_margins`, `pdf_footnotes`, `pdf_forms`, `pdf_sections`; `pdf_page` reads lines: `pdf_characters`, `pdf_pieces`,
  `pdf_layout`, `pdf_tables`; `pdf_lines` joins them); `pictures`, read with `ocr`
* texts: `text` (with `wrapped_text`), `markdown`, `html` (with `html_content`, `html_left_out`, `html_styles`, `html_inline`,
  `html_headings` and `html_tables`)
* `word` with its parts: `word_parts` (XML and styles), `word_runs` (with `word_symbols`), `word_numbering`, `word_tables`, `word_blocks`
* `opendocument` with its parts: `odf_xml`, `odf_styles`, `odf_lists`, `odf_inline`, `odf_objects`, `odf_text`
* in several formats: `raised` and lowered text, `runs`, `equations`, `charts`, `diagrams`, the forms of `numbers`
* files within files: `members`, of `archives` and of `mail` (with `mail_text`)
* the results: `sections` under headings, with the positions of pages and anchors; the headers that passages carry: `table_context`
* tables in all formats: `tables`; workbooks: `sheets` (`xlsx` with `xlsx_sheet`, `number_format` and `cell_names`) and `ods`, whose sheets
  `sheet` turns into documents
* comparing what was read with a raw reading that shares no code with the readers: `fidelity`, `raw_readings` (with `raw_text`, `raw_html`,
  `raw_office`, `raw_sheets`, `raw_numbers`, `raw_pdf`)
* merging short documents and marking lists of contents: `tidy`
"""

__all__ = ["files", "load", "readers"]
