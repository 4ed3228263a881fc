"""Tidy a file's documents: mark contents, indexes and legal notices with a role, merge short documents with neighbours."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from langchain_core.documents import Document

from ramify.tools.documents.sections import all_marks, merge_documents, slice_document, word_count

_LEADER = re.compile(
    r"\s*+(?P<term>\S(?:.*?\S)??)\s*+(?<!\.)(?<!\.[ \t])(?:\.[ \t]?){3,}+[ \t]*+(?P<page>\d{1,4}|[ivxlc]{1,6})(?:[,\s–-]++\d{1,4})*+\s*+$"
)
_DOTS = re.compile(r"\.[ \t]?\.[ \t]?\.")
_ENTRY_END = re.compile(r"(?<!\.)(?<!\.[ \t])(?:\.[ \t]?){3,}+[ \t]*+\d{1,4}(?:[ \t]?[,–-][ \t]?\d{1,4})*[ \t](?=\S)")
_PAGE_END = re.compile(r"(,\s\d{1,4}(?:[–-]\d{1,4})?)\s(?=[^\d\s])")
_COMMA = re.compile(r"^\s*(?P<term>[^\W\d_].{0,80}?),\s*(?P<page>\d{1,4})(?:[–-]\d+)?(?:,\s*+\d{1,4}(?:[–-]\d++)?)*+,?\s*+$")
_NUMBERS = re.compile(r"^[\d\s,–-]+$")
_MAX_ENTRY_CHARS = 300
"""Longer lines are not entries."""
_SORT_KEY_CHARS = 6
_MIN_ENTRIES = 5
_MIN_INDEX_ENTRIES = 15
_MIN_ENTRY_SHARE = 0.5
_MIN_RISING_SHARE = 0.9
_MIN_SORTED_SHARE = 0.75
_MAX_STRAY_LINES = 2
"""Most lines between two entries that may belong to them, such as the rest of a long title."""
_OWNER = re.compile(r"copyright|©|\(c\) ?\d{4}", re.IGNORECASE)
_TERMS = re.compile(
    r"permission (?:is|to|notice)|all rights reserved|warrant(?:y|ies)|licen[sc]ed? (?:under|to)|redistribut|without modification|"
    r"terms of the|trademarks? of",
    re.IGNORECASE,
)
_MIN_NOTICE_WORDS, _MAX_NOTICE_WORDS = 40, 600
"""Least and most words of a notice: shorter texts only name the licence, longer ones are the licence itself."""
_MAX_OWNER_POSITION = 0.25
"""Largest relative position of the copyright line in a notice; a title page has it at the end."""
_WORDS_PER_LEGAL_PHRASE = 25
"""Most words per legal phrase in a notice."""

RolePart = tuple[int, int, str | None]
"""Start and end of a part of a text, and its role."""


def split_by_role(document: Document) -> Iterator[Document]:
    """Split a document where its role changes; a document without roles is not changed."""
    if document.metadata.get("role"):
        yield document
        return
    marks = all_marks(document)
    starts = sorted({0, *(offset for offset, _ in marks["page"])})
    text, has_pages = document.page_content, bool(marks["page"])
    ends = [*starts[1:], len(text)]
    parts = _merge_parts([part for start, end in zip(starts, ends, strict=True) for part in _detect_roles(text, start, end, has_pages)])
    for number, (start, end, role) in enumerate(parts, start=1):
        part = document if len(parts) == 1 else slice_document(document, start, end, marks)
        if not part.page_content:
            continue
        metadata = part.metadata | {"role": role} if role else part.metadata
        identity = f"{document.id}@{number}" if number > 1 else document.id
        yield Document(part.page_content, id=identity, metadata=metadata)


def _detect_roles(whole: str, start: int, end: int, has_pages: bool) -> list[RolePart]:
    text = whole[start:end]
    if _is_notice(text):
        return [(start, end, "legal")]
    if has_pages and (role := _page_listing(text)):
        return [(start, end, role)]
    parts: list[RolePart] = []
    done = start
    for first, last, role in _contents_spans(text):
        parts += [(done, start + first, None), (start + first, start + last, role)]
        done = start + last
    return [*parts, (done, end, None)]


def _merge_parts(parts: Sequence[RolePart]) -> list[RolePart]:
    merged: list[RolePart] = []
    for start, end, role in parts:
        if merged and merged[-1][2] == role:
            merged[-1] = (merged[-1][0], end, role)
        elif start < end or not merged:
            merged.append((start, end, role))
    return merged


def _page_listing(text: str) -> str | None:
    """Return the role of a page that lists page numbers: "contents" if they ascend, "index" if the terms are sorted; else None."""
    lines = [line.strip() for line in _entries_on_lines(text).splitlines() if line.strip()]
    led = [match for line in lines if (match := _match_entry(line))]
    if len(led) >= _MIN_ENTRIES and len(led) >= _MIN_ENTRY_SHARE * len(lines):
        return _listing_role(led)
    lines = [line.strip() for line in _PAGE_END.sub(r"\1\n", text).splitlines() if line.strip()]
    listed = [match for line in lines if len(line) <= _MAX_ENTRY_CHARS and (match := _COMMA.match(line))]
    rest = sum(1 for line in lines if len(line) <= _MAX_ENTRY_CHARS and _NUMBERS.match(line))
    if len(listed) >= _MIN_INDEX_ENTRIES and len(listed) + rest >= _MIN_ENTRY_SHARE * len(lines) and _is_sorted(listed):
        return "index"
    return None


def _contents_spans(text: str) -> list[RolePart]:
    """Return runs of lines with dot leaders in a longer text."""
    if not _DOTS.search(text):
        return []
    spans: list[RolePart] = []
    run: list[tuple[int, int, re.Match[str]]] = []
    stray = start = 0
    for line in [*_entries_on_lines(text).splitlines(keepends=True), ""]:
        match = _match_entry(line.strip())
        stray = 0 if match else stray + bool(line.strip())
        if run and (stray > _MAX_STRAY_LINES or not line):
            kind = _listing_role([entry for _, _, entry in run]) if len(run) >= _MIN_ENTRIES else None
            spans += [(run[0][0], run[-1][1], kind)] if kind else []
            run = []
        if match:
            run.append((start, start + len(line), match))
        start += len(line)
    return spans


def _entries_on_lines(text: str) -> str:
    """Put entries that were joined into a paragraph on separate lines, without changing offsets."""
    return _ENTRY_END.sub(lambda match: match[0][:-1] + "\n", text)


def _match_entry(line: str) -> re.Match[str] | None:
    """Match a line of an entry, dot leaders and a page number."""
    return _LEADER.match(line) if len(line) <= _MAX_ENTRY_CHARS and _DOTS.search(line) and line[-1:].isalnum() else None


def _listing_role(entries: list[re.Match[str]]) -> str | None:
    pages = [int(entry["page"]) for entry in entries if entry["page"].isdigit()]
    rising = sum(one <= another for one, another in pairwise(pages))
    if rising >= _MIN_RISING_SHARE * (len(pages) - 1) and len(pages) >= _MIN_ENTRY_SHARE * len(entries):
        return "contents"
    return "index" if len(entries) >= _MIN_INDEX_ENTRIES and _is_sorted(entries) else None


def _is_sorted(entries: list[re.Match[str]]) -> bool:
    keys = [re.sub(r"[^\w\s]", "", entry["term"]).casefold()[:_SORT_KEY_CHARS] for entry in entries]
    return sum(one <= another for one, another in pairwise(keys)) >= _MIN_SORTED_SHARE * (len(keys) - 1)


def _is_notice(text: str) -> bool:
    """Return whether a text is a legal notice."""
    owner = _OWNER.search(text)
    if owner is None or owner.start() > _MAX_OWNER_POSITION * len(text):
        return False
    words = word_count(text)
    if not _MIN_NOTICE_WORDS <= words <= _MAX_NOTICE_WORDS:
        return False
    owners, terms = len(_OWNER.findall(text)), len(_TERMS.findall(text))
    return terms >= 2 and (owners + terms) * _WORDS_PER_LEGAL_PHRASE >= words


_MAX_LEGAL_SHARE = 0.1
"""A file with a larger share of legal text is about legal matters, and its text is not marked."""
_MIN_SECTION_WORDS = 12
"""Shorter sections are merged with a neighbour."""
_MAX_PASSAGE_WORDS = 150
"""A longer neighbour keeps its heading, since otherwise not all of its passages would show it."""


def tidy_documents(documents: Sequence[Document]) -> list[Document]:
    """Return a file's documents with a `role` on contents, indexes and legal notices, and short ones merged."""
    parts = [part for document in documents for part in split_by_role(document)]
    legal = sum(word_count(part.page_content) for part in parts if part.metadata.get("role") == "legal")
    if legal and legal > _MAX_LEGAL_SHARE * sum(word_count(document.page_content) for document in documents):
        parts = [_without_legal_role(part) for part in parts]
    return _merge_short(parts)


def _without_legal_role(document: Document) -> Document:
    """Return a document without the role "legal"."""
    if document.metadata.get("role") != "legal":
        return document
    metadata = {name: value for name, value in document.metadata.items() if name != "role"}
    return document.model_copy(update={"metadata": metadata})


def _merge_short(documents: Sequence[Document]) -> list[Document]:
    """Merge short documents into neighbours; documents with a role or read with OCR, and a single short one, are not changed.

    `headings_within` lists the headings of merged documents, which became lines of the text.
    """
    merged: dict[int, Document] = dict(enumerate(documents))
    plain = [place for place, document in merged.items() if not document.metadata.keys() & {"role", "read_by"}]
    after: dict[int, int] = dict(pairwise(plain))
    before: dict[int, int] = {second: first for first, second in after.items()}
    place = plain[0] if plain else None
    while place is not None:
        neighbours = [other for other in (after.get(place), before.get(place)) if other is not None]
        if not neighbours or not _has_fewer_words(merged[place], _MIN_SECTION_WORDS):
            place = after.get(place)
            continue
        own = _heading_path(merged[place])  # most headings in common; the next one on a tie, since a short text mostly introduces it
        other = max(neighbours, key=lambda other: _closeness(own, _heading_path(merged[other])))
        first, second = sorted((place, other))
        merged[first] = _merge_pair(merged[first], merged.pop(second))
        following = after.pop(second, None)
        if following is None:
            del after[first]
        else:
            after[first], before[following] = following, first
        place = first
    return list(merged.values())


def _has_fewer_words(document: Document, words: int) -> bool:
    return len(document.page_content.split(maxsplit=words)) < words


def _closeness(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[int, bool]:
    common = len(_common_prefix(one, other))
    return common, len(one) == len(other) or common == min(len(one), len(other))


def _merge_pair(first: Document, second: Document) -> Document:
    paths = [_heading_path(first), _heading_path(second)]
    long = (path for path, document in zip(paths, (first, second), strict=True) if not _has_fewer_words(document, _MAX_PASSAGE_WORDS + 1))
    kept = next(long, _common_prefix(*paths))
    texts, offsets = [], []
    for document, path in zip((first, second), paths, strict=True):
        own = () if path == kept[: len(path)] else path[len(_common_prefix(path, kept)) :]
        own = own[:-1] if own[-1:] == (document.page_content,) else own  # a slide with nothing but its title
        above = "\n".join(own)
        texts.append(f"{above}\n{document.page_content}" if above else document.page_content)
        offsets.append(len(above) + 1 if above else 0)
    both = merge_documents((first, second), texts, offsets)
    metadata = {name: value for name, value in both.metadata.items() if name != "heading"}
    return both.model_copy(update={"metadata": metadata | ({"heading": " > ".join(kept)} if kept else {})})


def _heading_path(document: Document) -> tuple[str, ...]:
    heading = str(document.metadata.get("heading") or "")
    return tuple(heading.split(" > ")) if heading else ()


def _common_prefix(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]
