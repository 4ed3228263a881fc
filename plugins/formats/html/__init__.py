"""Web pages: `reader`; the sections of a `page`, from its `content` (`left_out`, `styles`, `inline`, `headings`, `tables`)."""

__all__: list[str] = []
