"""Citations: the passages that an answer rests on, with location and quoted sentence; and the sentences that cite them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from ramify.nodes.tree import FrozenModel, Passage
from ramify.tools.documents.sections import find_marks, find_quote, metadata_at_quote
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.supporting_sentence import closest_sentence
from ramify.tools.text_location import distinct_names, heading_path, page_number, printed_page, source_link, source_path

_MARK = re.compile(
    r"(?P<code>`[^`\n]*`)|(?<!\s)\s*+(?:[\[【](?:passages? )?(?P<numbers>\d{1,2}(?:\s*(?:[,;–-]|and)\s*\d{1,2})*)[\]】]"
    r"|\[(?:finding )?0(?:\.\d{1,2})++\]|\(findings? 0(?:\.\d{1,2})++\))",
    re.IGNORECASE,
)
"""The numbers of passages that a model writes behind a sentence, or the path of a finding; in code between backticks there are none."""
_RANGE = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_WHOLE_MARK = re.compile(r"[\[【]\d[\d,; ]*+[\]】]")
_UNFINISHED = re.compile(r"(?<!\s)\s*+[\[【][^\]】]{0,12}$")
NOT_CITED = "shown, not cited"
CLOSEST = "only close"
MAX_ALSO = 2
"""Further sources of a text that are named; the JSON has them all."""
MAX_UNCITED = 3
"""Passages given beside an answer that cites none."""


class Source(FrozenModel):
    """Location of a text: file, headings, page, and a link that opens it."""

    source: str
    """The path within the folder that was given; of a record with `#id`."""
    collection: str = ""
    """The name of the index it is from, where several are searched."""
    name: str = ""
    """File with as many folders as distinguish it from the others."""
    title: str = ""
    heading: str = ""
    """The headings above it, the outermost first."""
    page: int | None = None
    """The page, or the slide, counted from 1."""
    read_by: str = ""
    """"ocr" for a text that was read from a picture, and may have mistakes."""
    path: str = ""
    """The file's absolute path; empty where it is not known."""
    link: str = ""
    """Opens it, at its page or heading where the format has one: always a `file://` address."""

    @property
    def on_page(self) -> str:
        """Return the page or slide, such as `page 4`, and whether it was read with OCR; empty if there is neither."""
        return printed_page(self.source, self.page, self.read_by)

    @property
    def where(self) -> str:
        """Return the location in a line: collection, folder and file, headings, page."""
        within = ", ".join(filter(None, (self.heading, self.on_page)))
        return f"{self.file} ({within})" if within else self.file

    @property
    def file(self) -> str:
        """Return the file, after its collection if several are searched."""
        return ": ".join(filter(None, (self.collection, self.name or self.source)))


class Citation(Source):
    """A passage that an answer rests on; if the model cites none, one that it was shown."""

    id: str
    text: str
    sha256: str = ""
    """The SHA-256 of the text in UTF-8, in hexadecimal; empty in answers of earlier versions."""
    quote: str = ""
    """The sentence that carries the answer."""
    cited: bool = True
    """Whether the answer rests on it; otherwise it was only shown to the model, which cited nothing, or comes closest to the question."""
    closest: bool = False
    """Whether it only comes closest to a question that has no answer; beside a doubtful answer, what comes close and is not its source."""
    start: int | None = None
    """Where in the text the quote begins, in characters; None where it is not found there word for word."""
    end: int | None = None
    """Where in the text the quote ends."""
    also: list[Source] = Field(default_factory=list)
    """Further locations of the same text."""

    @property
    def mark(self) -> str:
        """Return a mark for a source that the answer does not rest on."""
        return "" if self.cited else f" ({CLOSEST if self.closest else NOT_CITED})"

    @property
    def elsewhere(self) -> str:
        """Return further locations of the same text in short; empty if there are none."""
        if not self.also:
            return ""
        more = len(self.also) - MAX_ALSO
        return f"also in {', '.join(source.where for source in self.also[:MAX_ALSO])}" + (f" and {more} more" if more > 0 else "")


class Sentence(FrozenModel):
    """A sentence of an answer's text, with what it cites."""

    text: str
    """Without its citation numbers."""
    citations: tuple[int, ...] = ()
    """Numbers of the result's citations, from 1."""
    supported: bool | None = None
    """Whether what it cites says so; None where that was not checked."""


def cite(passages: Sequence[Passage], quotes: Sequence[str], cited: bool, closest: bool = False) -> list[Citation]:
    """Return citations of passages with their quotes and locations; files with the same name are distinguished by folders."""
    places = [(passage.source, source_path(passage.source, passage.metadata)) for passage in passages]
    spans = [find_quote(passage.text, quote) for passage, quote in zip(passages, quotes, strict=True)]
    return [
        Citation(
            id=passage.id,
            text=passage.text,
            sha256=text_sha256(passage.text),
            quote=quote,
            start=span[0] if span else None,
            end=span[1] if span else None,
            cited=cited,
            closest=closest,
            collection=passage.collection,
            also=_further_sources(passage) if "also" in passage.metadata else [],
            **_source_fields(
                passage.source, metadata_at_quote(passage.metadata, passage.text, quote), name, passage.text[slice(*span)] if span else ""
            ),
        )
        for passage, quote, span, name in zip(passages, quotes, spans, distinct_names(places), strict=True)
    ]


def text_sha256(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal; lone surrogates, which UTF-8 lacks, count as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def locate_passages(query: str, passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with the location of the sentence or heading that is nearest to the query."""
    places = [metadata_at_quote(passage.metadata, passage.text, closest_sentence(passage.text, query)) for passage in passages]
    return [passage.model_copy(update={"metadata": place}) for passage, place in zip(passages, places, strict=True)]


def headings(passage: Passage) -> list[str]:
    """List title and headings of a passage, which are not part of its statements."""
    above = [str(value) for _, value in find_marks(passage.metadata, "heading") if value]
    return list(dict.fromkeys([passage.title, *(part for path in above for part in heading_path("", path))]))


def _further_sources(passage: Passage) -> list[Source]:
    """Return the further sources of a passage; malformed ones are ignored."""
    listed = passage.metadata.get("also")
    items = listed if isinstance(listed, list) else []
    further = [item for item in items if isinstance(item, Mapping) and isinstance(item.get("source"), str)]
    named = distinct_names([(item["source"], source_path(item["source"], item)) for item in further])
    collections = [collapse_whitespace(item.get("collection") or "") for item in further]
    placed = [_source_fields(item["source"], item, name) for item, name in zip(further, named, strict=True)]
    return [Source(collection=collection, **place) for collection, place in zip(collections, placed, strict=True)]


def _source_fields(source: str, metadata: Mapping[str, Any], name: str, quote: str = "") -> dict[str, Any]:
    title, heading, sheet = (collapse_whitespace(metadata.get(key) or "") for key in ("title", "heading", "sheet"))
    above = dict.fromkeys([*([f"sheet {sheet}"] if sheet else []), *(part for part in heading_path(title, heading) if part != sheet)])
    return {
        "source": source,
        "name": collapse_whitespace(name),
        "title": title,
        "heading": " > ".join(above),
        "page": page_number(metadata),
        "read_by": collapse_whitespace(metadata.get("read_by") or ""),
        "path": source_path(source, metadata),
        "link": source_link(source, metadata, quote),
    }


def with_marks(sentence: Sentence) -> str:
    """Return a sentence followed by the numbers of its citations."""
    marks = "".join(f"[{number}]" for number in sentence.citations)
    return f"{sentence.text} {marks}".rstrip()


def group_by_line(text: str, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
    """Group the sentences of a text by its lines."""
    rest, lines = list(sentences), []
    for line in text.splitlines():
        count = next((n for n in range(1, len(rest) + 1) if " ".join(map(with_marks, rest[:n])) == line), len(rest))
        lines.append(rest[:count])
        rest = rest[count:]
    return [line for line in lines if line]


def text_of(text: str, before: Sequence[Sentence], after: Sequence[Sentence]) -> str:
    """Return a text whose sentences have other citations, with the same lines."""
    rest = iter(after)
    return text_of_lines([[next(rest) for _ in line] for line in group_by_line(text, before)])


def text_of_lines(lines: Sequence[Sequence[Sentence]]) -> str:
    """Return the text of lines of sentences, with their marks."""
    return "\n".join(" ".join(map(with_marks, line)) for line in lines)


def without_marks(text: str) -> str:
    """Return a text without the numbers of its citations."""
    return _MARK.sub(lambda match: match["code"] or "", text)


def without_trailing_marks(answer: str) -> str:
    """Return a short answer without the numbers that a model wrote behind it; those that belong to it, as in `a[1]`, stay."""
    text = answer.rstrip()
    while (start := max(text.rfind("["), text.rfind("【"))) > 0 and text[start - 1].isspace() and _WHOLE_MARK.fullmatch(text, start):
        text = text[:start].rstrip()
    return text.lstrip()


def without_unfinished(text: str) -> str:
    """Return a text that is still being written without its marks, also one that has only begun."""
    return without_marks(_UNFINISHED.sub("", text))


def mark_numbers(text: str) -> list[int]:
    """List the numbers of the marks in a text."""
    written = " ".join(match["numbers"] for match in _MARK.finditer(text) if match["numbers"])
    pairs = [(int(first), int(last or first)) for first, last in _RANGE.findall(written)]
    return [number for first, last in pairs for number in range(first, last + 1)]
