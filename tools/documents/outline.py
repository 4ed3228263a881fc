"""What the readers of structured formats give: a title, and sections under their headings."""

from typing import NamedTuple


class Section(NamedTuple):
    """A piece of text under a path of headings, outermost first."""

    headings: tuple[str, ...]
    text: str
    fragment: str | None = None
    """The id that opens it."""
    role: str | None = None
    """What it is where it is no text to read: "contents", "index"."""
    fragments: tuple[tuple[int, str], ...] = ()
    """Ids within it, each with the place where what it names begins."""


class Outline(NamedTuple):
    """A file's title, where it states one, and its sections."""

    title: str | None
    sections: list[Section]
