"""A citation: what an answer rests on, where that lies, and which of its sentences carries the answer."""

from pydantic import Field

from ramify.nodes.tree import Value, kept_as

NOT_CITED = "shown, not cited"
MOST_ALSO = 2
"""Further sources of a text that are named; the JSON has them all."""


@kept_as("ramify.nodes.citation")
class Source(Value):
    """Where a text lies, in a reader's words, and the link that opens it."""

    source: str
    """The path within the folder that was given; of a record with `#id`."""
    name: str = ""
    """Folder and file, as many folders as tell it from the others."""
    title: str = ""
    heading: str = ""
    """The headings above it, the outermost first."""
    page: int | None = None
    path: str = ""
    """The file's absolute path; empty where it is not known."""
    link: str = ""
    """Opens it, at its page or heading where the format has one: always a `file://` address."""

    @property
    def where(self) -> str:
        """Say in a line where it lies: folder and file, headings, page."""
        within = ", ".join(filter(None, (self.heading, f"page {self.page}" if self.page else "")))
        return f"{self.name or self.source} ({within})" if within else self.name or self.source


@kept_as("ramify.nodes.citation")
class Citation(Source):
    """A passage that an answer rests on; where the model cites none, one that it was shown."""

    id: str
    text: str
    quote: str = ""
    """The sentence that carries the answer."""
    cited: bool = True
    """Whether the model cites it; otherwise it was only shown to the model, which cited nothing."""
    also: list[Source] = Field(default_factory=list)
    """Where the same text lies as well."""

    @property
    def mark(self) -> str:
        """Say behind its source that the model does not cite it."""
        return "" if self.cited else f" ({NOT_CITED})"

    @property
    def elsewhere(self) -> str:
        """Say briefly where the same text lies as well; nothing where it does not."""
        if not self.also:
            return ""
        more = len(self.also) - MOST_ALSO
        return f"also in {', '.join(source.where for source in self.also[:MOST_ALSO])}" + (f" and {more} more" if more > 0 else "")
