"""A citation: what an answer rests on, where that lies, which of its sentences carries the answer; and how passages are made into some."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from ramify.nodes.tree.tree import FrozenModel, Passage
from ramify.tools.documents.sections import at_quote, marks_of
from ramify.tools.quoting import flatten
from ramify.tools.supporting_sentence import nearest
from ramify.tools.text_location import crumbs, link_of, names, page_of, path_of, printed_page

NOT_CITED = "shown, not cited"
MOST_ALSO = 2
"""Further sources of a text that are named; the JSON has them all."""
SHOWN = 3
"""Passages given beside an answer that cites none."""


class Source(FrozenModel):
    """Where a text lies, in a reader's words, and the link that opens it."""

    source: str
    """The path within the folder that was given; of a record with `#id`."""
    name: str = ""
    """Folder and file, as many folders as tell it from the others."""
    title: str = ""
    heading: str = ""
    """The headings above it, the outermost first."""
    page: int | None = None
    """The page, or the slide, counted from 1."""
    path: str = ""
    """The file's absolute path; empty where it is not known."""
    link: str = ""
    """Opens it, at its page or heading where the format has one: always a `file://` address."""

    @property
    def on_page(self) -> str:
        """Name the page or slide: `page 4`; nothing where there is none."""
        return printed_page(self.source, self.page)

    @property
    def where(self) -> str:
        """Say in a line where it lies: folder and file, headings, page."""
        within = ", ".join(filter(None, (self.heading, self.on_page)))
        return f"{self.name or self.source} ({within})" if within else self.name or self.source


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


def cite(passages: Sequence[Passage], quotes: Sequence[str], cited: bool) -> list[Citation]:
    """Make citations of passages and of what of each is quoted, where that stands; files of one name are told apart."""
    places = [(passage.source, path_of(passage.source, passage.metadata)) for passage in passages]
    return [
        Citation(
            id=passage.id,
            text=passage.text,
            quote=quote,
            cited=cited,
            also=_also(passage),
            **_place(passage.source, at_quote(passage.metadata, passage.text, quote), name),
        )
        for passage, quote, name in zip(passages, quotes, names(places), strict=True)
    ]


def near(query: str, passages: Sequence[Passage]) -> list[Passage]:
    """Place what a search found: each passage at its sentence or heading that is nearest to the query."""
    places = [at_quote(passage.metadata, passage.text, nearest(passage.text, query)) for passage in passages]
    return [passage.model_copy(update={"metadata": place}) for passage, place in zip(passages, places, strict=True)]


def headings(passage: Passage) -> list[str]:
    """List title and headings of a passage: what stands above its text, or as a line in it, is not what it says."""
    above = [str(value) for _, value in marks_of(passage.metadata, "heading") if value]
    return list(dict.fromkeys([passage.title, *(part for path in above for part in crumbs("", path))]))


def _also(passage: Passage) -> list[Source]:
    """Read the further sources of a passage; what is not of their form is passed over."""
    listed = passage.metadata.get("also")
    items = listed if isinstance(listed, list) else []
    found = [item for item in items if isinstance(item, Mapping) and isinstance(item.get("source"), str)]
    named = names([(item["source"], path_of(item["source"], item)) for item in found])
    return [Source(**_place(item["source"], item, name)) for item, name in zip(found, named, strict=True)]


def _place(source: str, metadata: Mapping[str, Any], name: str) -> dict[str, Any]:
    title, heading, sheet = (flatten(metadata.get(key) or "") for key in ("title", "heading", "sheet"))
    above = dict.fromkeys([*([f"sheet {sheet}"] if sheet else []), *(part for part in crumbs(title, heading) if part != sheet)])
    return {
        "source": source,
        "name": flatten(name),
        "title": title,
        "heading": " > ".join(above),
        "page": page_of(metadata),
        "path": path_of(source, metadata),
        "link": link_of(source, metadata),
    }
