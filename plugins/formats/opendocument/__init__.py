"""OpenDocument: `reader` of texts and slides, `sheets`; parts of both: `xml`, `styles`, `lists`, `inline`, `objects`, `text`."""

__all__: list[str] = []
