"""Split documents into passages, measured in tokens of the embedding model, and compose their labels.

A passage's text is an exact slice of its document's; one that begins within a table or record has the table's header and the row's name, or
the record's first fields, before it. It is embedded with its label (title and headings), which resolves references such as "it" but is not
part of the stored text, so a citation quotes only the document.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.sections import PassageSpan, locate_passages
from ramify.tools.documents.table_context import TableContext
from ramify.tools.embeddings.encoder import Encoder, Offsets
from ramify.tools.errors import UsageError

_HEADING = re.compile(r"\n(?=#{1,6} )")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"[.!?][\"'”’)\]]*\s+|[。！？]")
_BOUNDARIES = (_HEADING, _PARAGRAPH, _LINE, _SENTENCE)
_NUMBER = re.compile(r"^(?:[A-Z]\.)?\d+(?:\.\d+)*[.:)]?\s+(?=\S)")
_SEPARATOR = re.compile(r"(?<!\s)\s++[—–|·»:-]++\s++|:\s++")
_WORD = re.compile(r"\w+")
_MAX_TOKENIZED_CHARS = 1 << 20
"""Maximum characters tokenized at once, because tokens need a hundred times the memory of their text."""
_MAX_LABEL_FRACTION = 4
"""A label is truncated to 1 / so much of the model's maximum tokens."""
_MAX_CARRIED_FRACTION = 2
"""What a passage carries from above has at most 1 / so much of its tokens."""


class Chunking(NamedTuple):
    """Maximum length of a passage, and overlap with the next one, in tokens."""

    tokens: int = 300
    overlap: int = 30

    def validated(self) -> "Chunking":
        """Return itself; UsageError for invalid numbers."""
        if self.tokens < 1 or not 0 <= self.overlap < self.tokens:
            raise UsageError(f"cannot split into {self.tokens} tokens with an overlap of {self.overlap}", "give 0 <= overlap < tokens")
        return self

    def limited(self, room: int) -> "Chunking":
        """Return a copy with passages of at most `room` tokens."""
        tokens = max(1, min(self.tokens, room))
        return Chunking(tokens, min(self.overlap, tokens - 1))


DEFAULT_CHUNKING = Chunking()


def split_documents(
    documents: Sequence[Document], encoder: Encoder, chunking: Chunking = DEFAULT_CHUNKING, labels: Sequence[str] | None = None
) -> list[list[Document]]:
    """Return the passages of each document, with its metadata, their main `page` and `heading`, and ids `id`, `id~2`, `id~3` …

    labels: the documents' labels; by default title and headings.
    """
    if labels is None:
        labels = [truncate_label(passage_label(document.metadata), encoder) for document in documents]
    begins = [document.page_content[:_MAX_TOKENIZED_CHARS] for document in documents]
    return [
        list(_passages(document, tokens, encoder, chunking.validated().limited(encoder.max_tokens - len(above) - 1)))
        for document, above, tokens in zip(documents, encoder.offsets(labels), encoder.offsets(begins), strict=True)
    ]


def _passages(document: Document, tokens: Offsets, encoder: Encoder, chunking: Chunking) -> Iterator[Document]:
    spans = _Splitter(document, encoder, chunking).spans(tokens)
    for number, passage in enumerate(locate_passages(document, spans), start=1):
        passage.id = document.id if number == 1 else f"{document.id}~{number}"
        yield passage


class _Splitter:
    """Splits a document into the spans of its passages."""

    def __init__(self, document: Document, encoder: Encoder, chunking: Chunking) -> None:
        self._text = document.page_content
        self._context = TableContext(document)
        self._encoder = encoder
        self._chunking = chunking
        self._count_tokens = cache(encoder.count_tokens)

    def spans(self, tokens: Offsets) -> Iterator[PassageSpan]:
        """Yield the spans of passages; tokens: offsets of the first `_MAX_TOKENIZED_CHARS` characters.

        Each piece is split up to its last full passage, and the next piece begins where the next passage does.
        """
        begin, length = 0, _MAX_TOKENIZED_CHARS
        while True:
            following = begin
            for start, end, next_start in self._full_spans(begin, length, tokens):
                yield self._span(start, end)
                following = next_start
            if begin + length >= len(self._text):
                yield self._span(following, len(self._text))
                return
            begin, length = following, _MAX_TOKENIZED_CHARS if following > begin else 2 * length
            tokens = self._encoder.offsets([self._text[begin : begin + length]])[0]

    def _span(self, start: int, end: int) -> PassageSpan:
        """Return the span without white space at its ends, and the lines to put before it."""
        piece = self._text[start:end]
        return PassageSpan(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()), self._carried(start))

    def _carried(self, start: int) -> str:
        return self._context.carried_lines(start, self._chunking.tokens // _MAX_CARRIED_FRACTION, self._count_tokens)

    def _full_spans(self, begin: int, length: int, tokens: Offsets) -> Iterator[tuple[int, int, int]]:
        """Yield start, end and start of the next passage for each passage of a piece but the last.

        A passage ends at the best boundary in the second half of its window.
        """
        limit, overlap = self._chunking
        if len(tokens) <= limit - self._count_tokens(self._carried(begin)):
            return
        text, starts = self._text[begin : begin + length], [start for start, _ in tokens]
        words = [place for place in range(1, len(tokens)) if tokens[place - 1][1] < tokens[place][0]]
        units = [_token_boundaries(pattern, text, starts) for pattern in _BOUNDARIES]
        headings, openings = frozenset(units[0]), sorted({token for unit in units for token in unit})
        first, start = 0, begin
        while (window := first + limit - self._count_tokens(self._carried(start))) < len(tokens):
            after = _last_boundary([*units, words], first + (window - first + overlap) // 2 + 1, window) or window
            overlapping = after if after in headings else _overlapping_start((openings, words), max(after - overlap, first + 1), after)
            if not self._may_repeat(begin + starts[overlapping], begin + starts[after]):
                overlapping = after
            yield start, begin + starts[after], begin + starts[overlapping]
            first, start = overlapping, begin + starts[overlapping]

    def _may_repeat(self, start: int, end: int) -> bool:
        """Return whether the next passage may begin at `start` and repeat the text up to `end`: not if that consists of whole rows."""
        row = self._context.row_start(end)
        return self._context.row_start(start) is None if row in (None, end) else True


def _last_boundary(boundaries: Sequence[list[int]], low: int, high: int) -> int | None:
    """Return the last token in [low, high] that begins a unit of the strongest kind found there; None if there is none."""
    for kind in boundaries:
        place = bisect_left(kind, high + 1) - 1
        if place >= 0 and kind[place] >= low:
            return kind[place]
    return None


def _overlapping_start(boundaries: Sequence[list[int]], low: int, after: int) -> int:
    """Return the first token in [low, after) that begins a unit of the strongest kind found there, else `after`."""
    for kind in boundaries:
        place = bisect_left(kind, low)
        if place < len(kind) and kind[place] < after:
            return kind[place]
    return after


def _token_boundaries(pattern: re.Pattern[str], text: str, starts: list[int]) -> list[int]:
    """Return the first token after each match, sorted."""
    return sorted({place for match in pattern.finditer(text) if 0 < (place := bisect_left(starts, match.end())) < len(starts)})


def passage_label(metadata: Mapping[str, Any], fields: Iterable[str] = ()) -> str:
    """Return the label: fields, title and headings, joined by " > ", without redundant parts."""
    listed = [value if isinstance(value := metadata.get(field), list) else [value] for field in fields]
    chosen = [" ".join(str(value).split()) for values in listed for value in values if value is not None]
    headings = [heading.strip() for heading in str(metadata.get("heading") or "").split(" > ")]
    title = str(metadata.get("title") or "").strip()
    parts = list(dict.fromkeys(part for part in (*chosen, title, *headings) if part))
    return " > ".join(part for place, part in enumerate(parts) if not _is_redundant(part, parts, place))


def _is_redundant(part: str, parts: list[str], place: int) -> bool:
    """Return whether a part repeats an earlier one, or the next one contains it or equals it without the site's name."""
    words = _words(part)
    if any(words and words == _words(earlier) for earlier in parts[:place]):
        return True
    after = parts[place + 1 : place + 2]
    if not words or not after:
        return False
    following = _words(after[0])
    longer = len(following) > len(words) and (following[: len(words)] == words or words in _without_site(after[0]))
    return longer or (place == 0 and following in _without_site(part))


def _without_site(title: str) -> list[list[str]]:
    """Return the words of a title without the name of its site or book at the end or beginning, one list for each cut."""
    names = [_words(name) for name in _SEPARATOR.split(title)]
    cuts = range(1, len(names))
    return [[word for name in part for word in name] for cut in cuts for part in (names[:cut], names[cut:])]


def _words(part: str) -> list[str]:
    return _WORD.findall(_NUMBER.sub("", part).casefold())


def truncate_label(above: str, encoder: Encoder) -> str:
    """Return a label truncated to a quarter of the encoder's maximum tokens."""
    room = encoder.max_tokens // _MAX_LABEL_FRACTION
    if len(above) <= room:  # no token is shorter than a character
        return above
    tokens = encoder.offsets([above])[0]
    return above if len(tokens) <= room else above[: tokens[room - 1][1]]


def embedded_text(text: str, above: str) -> str:
    """Return the text to embed: label and text; the label is not repeated if the text begins with it."""
    return text if not above or text.startswith(above) else f"{above}\n{text}"
