"""PDF, and pictures of pages.

`reader`, with `margins`, `footnotes`, `forms` and `sections`; the lines of a page: `characters`, `pieces`, `layout`, `tables`;
`lines` joins them; `pictures` are read with `ocr`.
"""

__all__: list[str] = []
