"""Files as they are: found, read by one reader a format, and given as LangChain documents.

* found and read side by side: `load`, `files`, `parser_crew` of `parser_process`es
* what a file says of itself: `properties`, `front_matter`
* a reader a format: `readers`; `text`, `html` (with `html_content`, `html_elements`, `text_writer`), `tables`, `records`, `office/`, `pdf/`
* what comes of it: `sections` under their headings, `located_parts` that know where they begin
* tidied up: `tidy`, by the `roles` of what is no text to read
"""
