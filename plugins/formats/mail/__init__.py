"""Mails: `reader`, and the `text` of a part."""

__all__: list[str] = []
