"""Tidy a file's documents: what is no text to read gets a role, what is too short to be found by what it says goes to its neighbour."""

from collections.abc import Sequence
from itertools import pairwise

from langchain_core.documents import Document

from ramify.tools.documents.located_parts import joined
from ramify.tools.documents.roles import parts_by_role
from ramify.tools.documents.sections import word_count

_NOTICES = 0.1
"""A file of which more is legal is about that: a licence, which a person may ask for."""
_FEW = 12
"""Words below which a section goes to its neighbour."""
_ONE_PASSAGE = 150
"""A neighbour of more words keeps its own heading: not all of its passages would show it otherwise."""


def tidy(documents: Sequence[Document]) -> list[Document]:
    """Return a file's documents with `role` on what only lists or licenses, cut out by page, and short ones merged."""
    words = sum(word_count(document.page_content) for document in documents)
    parts = [part for document in documents for part in parts_by_role(document)]
    legal = sum(word_count(part.page_content) for part in parts if part.metadata.get("role") == "legal")
    if legal > _NOTICES * words:
        parts = [_unmarked(part) for part in parts]
    return _with_small_ones_merged(parts)


def _unmarked(document: Document) -> Document:
    """Return a legal text of a file about legal matters as the text that it is."""
    if document.metadata.get("role") != "legal":
        return document
    metadata = {name: value for name, value in document.metadata.items() if name != "role"}
    return document.model_copy(update={"metadata": metadata})


def _with_small_ones_merged(documents: Sequence[Document]) -> list[Document]:
    """Merge short documents into neighbours; what has a role stays as it is, and so does a short document alone.

    `headings_within` lists the headings of what was merged, which became lines of the text.
    """
    merged: dict[int, Document] = dict(enumerate(documents))
    plain = [place for place, document in merged.items() if "role" not in document.metadata]
    after: dict[int, int] = dict(pairwise(plain))
    before: dict[int, int] = {second: first for first, second in after.items()}
    place = plain[0] if plain else None
    while place is not None:
        neighbours = [other for other in (after.get(place), before.get(place)) if other is not None]
        if not neighbours or not _has_fewer_words(merged[place], _FEW):
            place = after.get(place)
            continue
        own = _path(merged[place])  # most headings in common; of two alike the next, which a short text mostly introduces
        other = max(neighbours, key=lambda other: _closeness(own, _path(merged[other])))
        first, second = sorted((place, other))
        merged[first] = _together(merged[first], merged.pop(second))
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
    common = len(_common(one, other))
    return common, len(one) == len(other) or common == min(len(one), len(other))


def _together(first: Document, second: Document) -> Document:
    paths = [_path(first), _path(second)]
    long = (path for path, document in zip(paths, (first, second), strict=True) if not _has_fewer_words(document, _ONE_PASSAGE + 1))
    kept = next(long, _common(*paths))
    texts, offsets = [], []
    for document, path in zip((first, second), paths, strict=True):
        own = () if path == kept[: len(path)] else path[len(_common(path, kept)) :]
        own = own[:-1] if own[-1:] == (document.page_content,) else own  # a slide with nothing but its title
        above = "\n".join(own)
        texts.append(f"{above}\n{document.page_content}" if above else document.page_content)
        offsets.append(len(above) + 1 if above else 0)
    both = joined((first, second), texts, offsets)
    metadata = {name: value for name, value in both.metadata.items() if name != "heading"}
    return both.model_copy(update={"metadata": metadata | ({"heading": " > ".join(kept)} if kept else {})})


def _path(document: Document) -> tuple[str, ...]:
    heading = str(document.metadata.get("heading") or "")
    return tuple(heading.split(" > ")) if heading else ()


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]
