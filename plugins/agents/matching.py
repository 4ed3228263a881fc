"""Find exact strings and patterns in the text of an index, with the place of each."""

import asyncio
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, Field

from ramify.graphs.tool import QUOTED_TITLE, describe_index, document_tool
from ramify.nodes.tree.citation import Citation, cite, headings
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.passage_store import document_id
from ramify.tools.passage import Passage
from ramify.tools.quoting import escape_invisible, one_line, pluralize, snippet, truncate_line
from ramify.tools.search.searcher import DEMO, Searchable, as_collections, open_index
from ramify.tools.supporting_sentence import MAX_QUOTE_CHARS, split_sentences
from ramify.tools.user_input import check_text

MAX_MATCHES = 20
MAX_PATTERN_CHARS = 1000
MAX_SECONDS = 10.0
_OVERLAP_BEGIN = 16
"""Characters of a passage by which its beginning is looked for in the one before."""
_BATCH = 256
"""Passages between two looks at the clock."""

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


Spans = Callable[[str], Iterable[Any]]
"""Yields the matches in a text, each with its `span()`."""


class Matches(NamedTuple):
    """What was found."""

    citations: list[Citation]
    """The first ones: `quote` is the sentence or line, `start` and `end` its position in `text`."""
    total: int
    """Sentences and lines with a match."""
    searched: int
    """Passages that were searched: fewer than `passages` if the time was used up."""
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
    out. A regular expression is one of RE2, which needs the package google-re2 and takes time linear in the text. UsageError for a pattern
    that is not valid, and for stores and retrievers of others, whose texts cannot be listed.
    """
    spans, within = compile_pattern(pattern, regex, match_case), check_text(within).casefold()
    several = as_collections(index)
    names, members = (several.names, several.members) if several else ([""], [index])
    opened = [_open(member) for member in members]
    ids = [sorted(member.ids(), key=_reading_order) for member in opened]
    until, searched, total = time.monotonic() + seconds, 0, 0
    found: list[tuple[Passage, str]] = []
    for name, member, own in zip(names, opened, ids, strict=True):
        lines = _Lines(spans)
        for passage in iterate_passages(member, own):
            if searched % _BATCH == 0 and time.monotonic() > until:
                break
            searched += 1
            if within in passage.source.casefold():
                matching = lines.of(passage)
                total += len(matching)
                named = passage.model_copy(update={"collection": name})
                found += [(named, line) for line in matching[: limit - len(found)]]
    citations = cite([passage for passage, _ in found], [line for _, line in found], cited=True)
    return Matches(citations, total, searched, sum(map(len, ids)))


def compile_pattern(pattern: str, regex: bool, match_case: bool) -> Spans:
    """Return a function that finds all matches in a text; UsageError for a pattern that is empty, too long or not valid."""
    if not check_text(pattern).strip() or len(pattern) > MAX_PATTERN_CHARS:
        raise UsageError(
            f"a pattern of {len(pattern):,} characters cannot be found", f"give 1 to {MAX_PATTERN_CHARS:,}, not all white space"
        )
    if not regex:  # words with white space between them: nothing in it that a search would have to take back
        return re.compile(r"\s+".join(map(re.escape, pattern.split())), 0 if match_case else re.IGNORECASE).finditer
    try:
        import re2
    except ImportError as error:
        raise UsageError("regular expressions need the package google-re2", "run `pip install google-re2`, or give a string") from error
    options = re2.Options()
    options.case_sensitive, options.log_errors = match_case, False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace")
        what = f"{truncate_line(pattern, 60)!r} is not a regular expression of RE2: {reason}"
        raise UsageError(what, "correct it, or give a string") from error
    if compiled.search(""):
        raise UsageError(f"{truncate_line(pattern, 60)!r} matches an empty text", "give a pattern that needs a character")
    spans: Spans = compiled.finditer
    return spans


class _Lines:
    """The sentences and lines with a match in the passages of an index, which come in the order of their documents."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._before = Passage(id="", text="", source="", score=0)
        self._headings: set[tuple[str, str]] = set()

    def of(self, passage: Passage) -> list[str]:
        """Return the headings, and the sentences or lines of the text, that have a match and were not returned for the one before."""
        document = document_id(passage.id)
        above = [heading for heading in headings(passage) if any(True for _ in self._spans(heading))]
        new = [heading for heading in above if (document, heading) not in self._headings and heading not in passage.text]
        self._headings.update((document, heading) for heading in new)
        known = _overlap(self._before.text, passage.text) if document_id(self._before.id) == document else 0
        self._before = passage
        quotes: dict[tuple[int, str], str] = {}
        for match in self._spans(passage.text):
            begin, end = match.span()
            if begin >= known:
                start = passage.text.rfind("\n", 0, begin) + 1
                stop = passage.text.find("\n", end)
                quote = _quote(passage.text[start : stop if stop >= 0 else None], passage.text[begin:end])
                quotes.setdefault((start, quote), quote)
        return [*new, *quotes.values()]


def _quote(line: str, match: str) -> str:
    """Return the sentence of a line that has a match; the part around it if that is long."""
    sentence = next((sentence for sentence in split_sentences(line) if match in sentence), line).strip()
    return snippet(sentence, match, MAX_QUOTE_CHARS) if len(sentence) > MAX_QUOTE_CHARS else sentence


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
