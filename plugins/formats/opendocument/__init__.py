"""OpenDocument: `reader` of texts and slides, `sheets`; parts of both: `xml`, `styles` and lists, `inline` text, `text`."""

__all__: list[str] = []
