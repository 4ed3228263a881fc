"""Split documents into passages, measured in tokens of the embedding model, and write the label that each is embedded under.

A passage's text is an exact slice of its document's. What is embedded is the passage under its label (title and headings): the label says
what "it" is, but is not part of the stored text, so a citation quotes the document and nothing else.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.sections import locate_passages
from ramify.tools.embeddings.encoder import Encoder, Offsets
from ramify.tools.errors import UsageError

_HEADING = re.compile(r"\n(?=#{1,6} )")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"[.!?][\"'”’)\]]*\s+|[。！？]")
_BOUNDARIES = (_HEADING, _PARAGRAPH, _LINE, _SENTENCE)
_NUMBER = re.compile(r"^(?:[A-Z]\.)?\d+(?:\.\d+)*[.:)]?\s+(?=\S)")
_SEPARATOR = re.compile(r"\s+[—–|·»:-]+\s+|:\s+")
_WORD = re.compile(r"\w+")
_AT_ONCE = 1 << 20
"""Characters of a text that are tokenized at once: tokens take a hundred times the memory of their text."""
_LABEL_SHARE = 4
"""A label longer than this fraction of what the model sees is cut: the text matters more."""


class Chunking(NamedTuple):
    """How long a passage is and how much of it the next one repeats, in tokens."""

    tokens: int = 300
    overlap: int = 30

    def checked(self) -> "Chunking":
        """Return itself, or raise `UsageError` where the numbers cannot work."""
        if self.tokens < 1 or not 0 <= self.overlap < self.tokens:
            raise UsageError(f"cannot split into {self.tokens} tokens with an overlap of {self.overlap}", "take 0 <= overlap < tokens")
        return self

    def limited(self, room: int) -> "Chunking":
        """Return it with passages of at most `room` tokens."""
        tokens = max(1, min(self.tokens, room))
        return Chunking(tokens, min(self.overlap, tokens - 1))


DEFAULT_CHUNKING = Chunking()


def split(
    documents: Sequence[Document], encoder: Encoder, chunking: Chunking = DEFAULT_CHUNKING, labels: Sequence[str] | None = None
) -> list[list[Document]]:
    """Split each document; passages keep its metadata, `page` and `heading` as most of them stands, and are called `id`, `id~2`, `id~3` …

    labels: what each is embedded under; not given: its title and headings.
    """
    if labels is None:
        labels = [clip(label(document.metadata), encoder) for document in documents]
    begins = [document.page_content[:_AT_ONCE] for document in documents]
    return [
        list(_passages(document, tokens, encoder, chunking.checked().limited(encoder.max_tokens - len(above) - 1)))
        for document, above, tokens in zip(documents, encoder.offsets(labels), encoder.offsets(begins), strict=True)
    ]


def _passages(document: Document, tokens: Offsets, encoder: Encoder, chunking: Chunking) -> Iterator[Document]:
    spans = _spans(document.page_content, tokens, encoder, chunking)
    for number, passage in enumerate(locate_passages(document, spans), start=1):
        passage.id = document.id if number == 1 else f"{document.id}~{number}"
        yield passage


def _spans(text: str, tokens: Offsets, encoder: Encoder, chunking: Chunking) -> Iterator[tuple[int, int]]:
    """Yield the character spans of passages; `tokens` are those of the first piece of the text.

    A piece is read up to its last full passage, and the next piece begins where the passage after that does.
    """
    begin, length = 0, _AT_ONCE
    while True:
        following = 0
        for start, end, next_start in _full_spans(text[begin : begin + length], tokens, chunking):
            yield _stripped(text, begin + start, begin + end)
            following = next_start
        if begin + length >= len(text):
            yield _stripped(text, begin + following, len(text))
            return
        begin, length = begin + following, _AT_ONCE if following else 2 * length
        tokens = encoder.offsets([text[begin : begin + length]])[0]


def _full_spans(text: str, tokens: Offsets, chunking: Chunking) -> Iterator[tuple[int, int, int]]:
    """Yield where each passage that others follow starts and ends, and where the next one starts.

    A passage ends at the best boundary in the later half of its window.
    """
    if len(tokens) <= chunking.tokens:
        return
    starts = [start for start, _ in tokens]
    words = [place for place in range(1, len(tokens)) if tokens[place - 1][1] < tokens[place][0]]
    units = [_token_boundaries(pattern, text, starts) for pattern in _BOUNDARIES]
    headings, openings = frozenset(units[0]), sorted({token for unit in units for token in unit})
    first = start = 0
    while first + chunking.tokens < len(tokens):
        window = first + chunking.tokens
        after = _last_boundary([*units, words], first + (chunking.tokens + chunking.overlap) // 2 + 1, window) or window
        overlapping = after if after in headings else _overlapping_start((openings, words), max(after - chunking.overlap, first + 1), after)
        yield start, starts[after], starts[overlapping]
        first, start = overlapping, starts[overlapping]


def _last_boundary(boundaries: Sequence[list[int]], low: int, high: int) -> int | None:
    """Return the last token in [low, high] that opens the strongest kind of unit to be found there."""
    for kind in boundaries:
        place = bisect_left(kind, high + 1) - 1
        if place >= 0 and kind[place] >= low:
            return kind[place]
    return None


def _overlapping_start(boundaries: Sequence[list[int]], low: int, after: int) -> int:
    """Return the first token in [low, after) that opens the strongest kind of unit to be found there, else `after`."""
    for kind in boundaries:
        place = bisect_left(kind, low)
        if place < len(kind) and kind[place] < after:
            return kind[place]
    return after


def _token_boundaries(pattern: re.Pattern[str], text: str, starts: list[int]) -> list[int]:
    """Return the tokens that are the first after a match."""
    return sorted({place for match in pattern.finditer(text) if 0 < (place := bisect_left(starts, match.end())) < len(starts)})


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def label(metadata: Mapping[str, Any], fields: Iterable[str] = ()) -> str:
    """Return chosen fields, title and headings, outermost first; what another of them says already is left out."""
    listed = [value if isinstance(value := metadata.get(field), list) else [value] for field in fields]
    chosen = [" ".join(str(value).split()) for values in listed for value in values if value is not None]
    headings = [heading.strip() for heading in str(metadata.get("heading") or "").split(" > ")]
    title = str(metadata.get("title") or "").strip()
    parts = list(dict.fromkeys(part for part in (*chosen, title, *headings) if part))
    return " > ".join(part for place, part in enumerate(parts) if not _is_said(part, parts, place))


def _is_said(part: str, parts: list[str], place: int) -> bool:
    """Return whether an earlier part is the same but for its number, or a later one begins with it, or is it without the site's name."""
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
    """Return what a title says with names of its site or book left out, at its end or its beginning."""
    names = [_words(name) for name in _SEPARATOR.split(title)]
    cuts = range(1, len(names))
    return [[word for name in part for word in name] for cut in cuts for part in (names[:cut], names[cut:])]


def _words(part: str) -> list[str]:
    return _WORD.findall(_NUMBER.sub("", part).casefold())


def clip(above: str, encoder: Encoder) -> str:
    """Cut a label that would leave the text too little room."""
    room = encoder.max_tokens // _LABEL_SHARE
    if len(above) <= room:  # no token is shorter than a character
        return above
    tokens = encoder.offsets([above])[0]
    return above if len(tokens) <= room else above[: tokens[room - 1][1]]


def embedded_text(text: str, above: str) -> str:
    """Return what is embedded for a passage; a text that begins with its label does not get it twice."""
    return text if not above or text.startswith(above) else f"{above}\n{text}"
