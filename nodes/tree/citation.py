"""Citations: what an answer rests on, where that lies, which of its sentences carries the answer; and the sentences that cite them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from ramify.nodes.tree import FrozenModel, Passage
from ramify.tools.documents.sections import find_marks, find_quote, metadata_at_quote
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.supporting_sentence import closest_sentence
from ramify.tools.text_location import distinct_names, heading_path, page_number, printed_page, source_link, source_path

_MARK = re.compile(r"(?P<code>`[^`\n]*`)|\s*[\[【](?:passages? )?(?P<numbers>\d{1,2}(?:\s*(?:[,;–-]|and)\s*\d{1,2})*)[\]】]", re.IGNORECASE)
"""The numbers of passages that a model writes behind a sentence; what looks like them in code between backticks is none."""
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_UNFINISHED = re.compile(r"\s*[\[【][^\]】]{0,12}$")
NOT_CITED = "shown, not cited"
CLOSEST = "closest, may not hold the answer"
MOST_ALSO = 2
"""Further sources of a text that are named; the JSON has them all."""
SHOWN = 3
"""Passages given beside an answer that cites none."""


class Source(FrozenModel):
    """Where a text lies, in a reader's words, and the link that opens it."""

    source: str
    """The path within the folder that was given; of a record with `#id`."""
    collection: str = ""
    """The name of the index it is from, where several are searched."""
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
        """Say in a line where it lies: collection, folder and file, headings, page."""
        within = ", ".join(filter(None, (self.heading, self.on_page)))
        return f"{self.file} ({within})" if within else self.file

    @property
    def file(self) -> str:
        """Name the file, behind its collection where several are searched."""
        return ": ".join(filter(None, (self.collection, self.name or self.source)))


class Citation(Source):
    """A passage that an answer rests on; where the model cites none, one that it was shown."""

    id: str
    text: str
    quote: str = ""
    """The sentence that carries the answer."""
    cited: bool = True
    """Whether the answer rests on it; otherwise it was only shown to the model, which cited nothing, or comes closest to the question."""
    closest: bool = False
    """Whether it only comes closest to a question that has no answer, or a doubtful one."""
    start: int | None = None
    """Where in the text the quote begins, in characters; None where it is not found there word for word."""
    end: int | None = None
    """Where in the text the quote ends."""
    also: list[Source] = Field(default_factory=list)
    """Where the same text lies as well."""

    @property
    def mark(self) -> str:
        """Say behind its source that the answer does not rest on it."""
        return "" if self.cited else f" ({CLOSEST if self.closest else NOT_CITED})"

    @property
    def elsewhere(self) -> str:
        """Say briefly where the same text lies as well; nothing where it does not."""
        if not self.also:
            return ""
        more = len(self.also) - MOST_ALSO
        return f"also in {', '.join(source.where for source in self.also[:MOST_ALSO])}" + (f" and {more} more" if more > 0 else "")


class Sentence(FrozenModel):
    """A sentence of an answer's text, with what it cites."""

    text: str
    """Without its citation numbers."""
    citations: tuple[int, ...] = ()
    """Numbers of the result's citations, from 1."""
    supported: bool | None = None
    """Whether what it cites says so; None where that was not checked."""


def cite(passages: Sequence[Passage], quotes: Sequence[str], cited: bool, closest: bool = False) -> list[Citation]:
    """Make citations of passages and of what of each is quoted, where that stands; files of one name are told apart."""
    places = [(passage.source, source_path(passage.source, passage.metadata)) for passage in passages]
    spans = [find_quote(passage.text, quote) for passage, quote in zip(passages, quotes, strict=True)]
    return [
        Citation(
            id=passage.id,
            text=passage.text,
            quote=quote,
            start=span[0] if span else None,
            end=span[1] if span else None,
            cited=cited,
            closest=closest,
            collection=passage.collection,
            also=_also(passage) if "also" in passage.metadata else [],
            **_place(
                passage.source, metadata_at_quote(passage.metadata, passage.text, quote), name, passage.text[slice(*span)] if span else ""
            ),
        )
        for passage, quote, span, name in zip(passages, quotes, spans, distinct_names(places), strict=True)
    ]


def near(query: str, passages: Sequence[Passage]) -> list[Passage]:
    """Place what a search found: each passage at its sentence or heading that is nearest to the query."""
    places = [metadata_at_quote(passage.metadata, passage.text, closest_sentence(passage.text, query)) for passage in passages]
    return [passage.model_copy(update={"metadata": place}) for passage, place in zip(passages, places, strict=True)]


def headings(passage: Passage) -> list[str]:
    """List title and headings of a passage: what stands above its text, or as a line in it, is not what it says."""
    above = [str(value) for _, value in find_marks(passage.metadata, "heading") if value]
    return list(dict.fromkeys([passage.title, *(part for path in above for part in heading_path("", path))]))


def _also(passage: Passage) -> list[Source]:
    """Read the further sources of a passage; what is not of their form is passed over."""
    listed = passage.metadata.get("also")
    items = listed if isinstance(listed, list) else []
    found = [item for item in items if isinstance(item, Mapping) and isinstance(item.get("source"), str)]
    named = distinct_names([(item["source"], source_path(item["source"], item)) for item in found])
    collections = [collapse_whitespace(item.get("collection") or "") for item in found]
    placed = [_place(item["source"], item, name) for item, name in zip(found, named, strict=True)]
    return [Source(collection=collection, **place) for collection, place in zip(collections, placed, strict=True)]


def _place(source: str, metadata: Mapping[str, Any], name: str, quote: str = "") -> dict[str, Any]:
    title, heading, sheet = (collapse_whitespace(metadata.get(key) or "") for key in ("title", "heading", "sheet"))
    above = dict.fromkeys([*([f"sheet {sheet}"] if sheet else []), *(part for part in heading_path(title, heading) if part != sheet)])
    return {
        "source": source,
        "name": collapse_whitespace(name),
        "title": title,
        "heading": " > ".join(above),
        "page": page_number(metadata),
        "path": source_path(source, metadata),
        "link": source_link(source, metadata, quote),
    }


def marked(sentence: Sentence) -> str:
    """Write a sentence with the numbers of its citations behind it: a quotation stays as it is."""
    marks = "".join(f"[{number}]" for number in sentence.citations)
    return f"{sentence.text} {marks}".rstrip()


def by_line(text: str, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """Group the sentences of a text by its lines."""
    rest, lines = list(sentences), []
    for line in text.splitlines():
        count = next((n for n in range(1, len(rest) + 1) if " ".join(map(marked, rest[:n])) == line), len(rest))
        lines.append(rest[:count])
        rest = rest[count:]
    return [line for line in lines if line]


def without_marks(text: str) -> str:
    """Return a text without the numbers of its citations."""
    return _MARK.sub(lambda match: match["code"] or "", text)


def without_trailing_marks(answer: str) -> str:
    """Return a short answer without the numbers that a model wrote behind it; those that belong to it, as in `a[1]`, stay."""
    return re.sub(r"(?:\s+[\[【]\d[\d,; ]*[\]】])+\s*$", "", answer).strip()


def without_unfinished(text: str) -> str:
    """Return a text that is still being written without its marks, also one that has only begun."""
    return without_marks(_UNFINISHED.sub("", text))


def numbers_in(text: str) -> list[int]:
    """List the numbers of the marks in a text."""
    written = " ".join(match["numbers"] for match in _MARK.finditer(text) if match["numbers"])
    pairs = [(int(first), int(last or first)) for first, last in _RANGE.findall(written)]
    return [number for first, last in pairs for number in range(first, last + 1)]
