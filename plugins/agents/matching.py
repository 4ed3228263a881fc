"""Find exact strings and patterns in the text of an index, with the place of each."""

import asyncio
import time
from bisect import bisect_right
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, Field

from ramify.agents.patterns import Spans, compile_pattern, fold_letters
from ramify.agents.sentences import Span, line_spans
from ramify.graphs.tool import QUOTED_TITLE, describe_index, document_tool
from ramify.nodes.tree.citation import Citation, cite, headings
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.passage_store import document_id
from ramify.tools.passage import Passage
from ramify.tools.quoting import escape_invisible, one_line, pluralize, truncate_line
from ramify.tools.search.searcher import DEMO, Searchable, as_collections, open_index
from ramify.tools.supporting_sentence import MAX_QUOTE_CHARS
from ramify.tools.user_input import check_text

MAX_MATCHES = 20
MAX_SECONDS = 10.0
_OVERLAP_BEGIN = 16
"""Characters of a passage by which its beginning is looked for in the one before."""
_FOLDERS = 2
"""Folders of a file by which it can be named."""
_BATCH = 256
"""Passages between two looks at the clock."""
_BEFORE, _AFTER = 120, 160
"""Characters quoted around a match in a long sentence."""

GREP = (
    "Find an exact string in {about}: a code, a part number, a name as it is written, a quotation. It returns the sentences and lines "
    "that contain it, numbered, each with its place, and how many there are. It compares letters, not meanings: it answers no question."
)


class GrepArguments(BaseModel):
    """What to find."""

    pattern: str = Field(description="The string as it stands in the text. Any white space between its words matches.")
    regex: bool = Field(default=False, description="Whether the string is a regular expression (RE2) instead, such as `ERR-[0-9]+`.")
    match_case: bool = Field(default=False, description="Whether capital and small letters differ.")
    within: str = Field(default="", description="Only in files whose path contains this, such as `manual.pdf`.")


class Matches(NamedTuple):
    """What was found."""

    citations: list[Citation]
    """The first ones: `quote` is the sentence or line, `start` and `end` its position in `text`."""
    total: int
    """Sentences and lines with a match."""
    searched: int
    """Passages that were looked at: fewer than `passages` if the time was used up."""
    passages: int

    @property
    def complete(self) -> bool:
        """Return whether all passages were searched."""
        return self.searched == self.passages

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON; `citations` are as those of an answer."""
        return {**self._asdict(), "citations": [citation.model_dump(mode="json") for citation in self.citations]}


def grep(
    index: Searchable, pattern: str, *, regex: bool = False, match_case: bool = False, within: str = "", limit: int = MAX_MATCHES,
    seconds: float = MAX_SECONDS,
) -> Matches:  # fmt: skip
    """Return the sentences and lines of an index, or of several, that contain a string or match a regular expression; blocking.

    Titles and headings are searched, too. Passages that are stored but not searched (duplicates, tables of contents, licences) are left
    out; of what goes beyond a passage, only as much is seen as passages overlap. Of a string, forms of the same letter, hyphen or quotation
    mark are equal, and invisible characters do not count; a regular expression is one of RE2 in the text as it is: it needs the package
    google-re2, and takes time linear in the text. `within` is a part of a file's path, as it was indexed or as it is shown. UsageError for
    a pattern that is not valid, for stores and retrievers of others, whose texts cannot be listed, and if no file is within.
    """
    if limit < 1:
        raise UsageError(f"cannot return {limit} places", "give limit=1 or more")
    spans = compile_pattern(pattern, regex, match_case)
    several = as_collections(index)
    names, members = (several.names, several.members) if several else ([""], [index])
    opened = [_open(member) for member in members]
    ids = [sorted(member.ids(), key=_reading_order) for member in opened]
    is_within = _Within(check_text(within))
    until, searched, total = time.monotonic() + seconds, 0, 0
    found: list[tuple[Passage, str]] = []
    for name, member, own in zip(names, opened, ids, strict=True):
        places = _Places(spans)
        for passage in iterate_passages(member, own):
            if searched % _BATCH == 0 and time.monotonic() > until:
                break
            searched += 1
            if is_within(passage):
                quotes = places.quotes(passage)
                total += len(quotes)
                named = passage.model_copy(update={"collection": name})
                found += [(named, quote) for quote in quotes[: limit - len(found)]]
    passages = sum(map(len, ids))
    if within and not is_within.any and searched == passages:
        raise UsageError(f"no file's path contains {truncate_line(within, 60)!r}", "correct it, or leave it out")
    return Matches(cite([passage for passage, _ in found], [quote for _, quote in found], cited=True), total, searched, passages)


class _Within:
    """Tells whether the path of a passage's file contains a text; `any` is whether one did."""

    def __init__(self, text: str) -> None:
        self._text = fold_letters(text, False)
        self._known: dict[str, bool] = {}

    @property
    def any(self) -> bool:
        """Return whether the path of a file contained it."""
        return True in self._known.values()

    def __call__(self, passage: Passage) -> bool:
        if passage.source not in self._known:
            folders = Path(str(passage.metadata.get("path") or "")).parts[-_FOLDERS - 1 :]
            shown = "#".join(filter(None, ("/".join(folders), passage.source.partition("#")[2])))
            self._known[passage.source] = any(self._text in fold_letters(path, False) for path in (passage.source, shown))
        return self._known[passage.source]


class _Places:
    """The sentences and lines with a match in the passages of an index, which come in the order of their documents."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._before = Passage(id="", text="", source="", score=0)
        self._headings: set[tuple[str, str]] = set()

    def quotes(self, passage: Passage) -> list[str]:
        """Return the headings, and the sentences or lines of the text, that have a match and were not returned for the one before."""
        document, text = document_id(passage.id), passage.text
        above = [heading for heading in headings(passage) if any(True for _ in self._spans(heading))]
        new = [heading for heading in above if (document, heading) not in self._headings and heading not in text]
        self._headings.update((document, heading) for heading in new)
        known = _overlap(self._before.text, text) if document_id(self._before.id) == document else 0
        self._before = passage
        matches = [(begin, end) for begin, end in self._spans(text) if end > known and text[begin:end].strip()]
        sentences = line_spans(text) if matches else []
        begins = [begin for begin, _ in sentences]
        quotes: dict[Span, str] = {}
        for begin, end in matches:
            first, last = bisect_right(begins, begin) - 1, bisect_right(begins, end - 1) - 1
            whole = (sentences[max(0, first)][0], max(end, sentences[max(0, last)][1]))
            quotes.setdefault(whole, _quote(text, whole, (begin, end)))
        return [*new, *quotes.values()]


def _quote(text: str, whole: Span, match: Span) -> str:
    """Return the sentences with a match; of long ones the part around it."""
    if whole[1] - whole[0] <= MAX_QUOTE_CHARS:
        return text[slice(*whole)].strip()
    begin, end = whole
    if match[0] - begin > _BEFORE:
        begin = text.find(" ", match[0] - _BEFORE, match[0]) + 1 or match[0] - _BEFORE
    if end - match[1] > _AFTER:
        end = max(text.rfind(" ", match[1], match[1] + _AFTER), match[1])
    return f"{'… ' if begin > whole[0] else ''}{text[begin:end].strip()}{' …' if end < whole[1] else ''}"


def _overlap(before: str, text: str) -> int:
    """Return how many characters at the beginning of a text are the end of the one before."""
    start = before.find(text[:_OVERLAP_BEGIN]) if text else -1
    while start >= 0 and not text.startswith(before[start:]):
        start = before.find(text[:_OVERLAP_BEGIN], start + 1)
    return len(before) - start if start >= 0 else 0


def _open(member: Any) -> Index:
    opened = open_index(member) if isinstance(member, (str, Path)) else member
    if not isinstance(opened, Index):
        raise UsageError(f"the texts in {type(opened).__name__!r} cannot be listed", "give an index of ramify, or its folder or address")
    return opened


def _reading_order(passage: str) -> tuple[str, int]:
    """Return the document of a passage and its number in it, from its id."""
    document = document_id(passage)
    return document, int(passage[len(document) + 1 :] or 0)


def grep_tool(
    index: Searchable = DEMO, *, name: str = "grep_documents", about: str | None = None, limit: int = MAX_MATCHES
) -> StructuredTool:
    """Return `grep` as a tool; the artifact has `citations`, as those of an answer, `total`, `searched` and `passages`.

    IndexingError if there is no index.
    """

    async def find(config: RunnableConfig, **arguments: Any) -> tuple[str, Any]:
        matches = await asyncio.to_thread(grep, index, limit=limit, **arguments)
        return format_matches(matches), matches.to_json()

    return document_tool(name, GREP.format(about=about or describe_index(index)), GrepArguments, index, find, filters=False)


def format_matches(matches: Matches) -> str:
    """Return matches as text for a model: numbered lines with their places, and how many there are."""
    lines = [f"{pluralize(matches.total, 'place')} in {pluralize(matches.searched, 'passage')}."]
    if not matches.complete:
        lines.append(f"Note: the time was used up; {matches.passages - matches.searched:,} passages were not searched.")
    if len(matches.citations) < matches.total:
        lines.append(f"Note: these are the first {len(matches.citations)}; a longer string, or `within` a file, gives fewer.")
    numbered = enumerate(matches.citations, 1)
    quoted = [f"[{number}] {one_line(citation.where)}: {one_line(escape_invisible(citation.quote))}" for number, citation in numbered]
    return "\n".join([*lines, *([QUOTED_TITLE, *quoted] if quoted else [])])
