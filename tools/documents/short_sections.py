"""Sections too short to be found by what they say: merged with the neighbour they belong with."""

from collections.abc import Sequence

from langchain_core.documents import Document

from ramify.tools.documents.located_parts import joined

_FEW = 12
"""Words below which a section goes to its neighbour."""
_ONE_PASSAGE = 150
"""A neighbour of more words keeps its own heading: not all of its passages would show it otherwise."""


def with_small_ones_merged(documents: Sequence[Document]) -> list[Document]:
    """Merge short documents into neighbours; what has a role stays as it is, and so does a short document alone.

    `headings_within` lists the headings that became lines of the text.
    """
    merged = list(documents)
    place = 0
    while place < len(merged):
        other = _neighbour(merged, place) if _is_small(merged[place]) else None
        if other is None:
            place += 1
            continue
        first, second = sorted((place, other))
        merged[first] = _together(merged[first], merged[second])
        del merged[second]
        place = first
    return merged


def _is_small(document: Document) -> bool:
    return "role" not in document.metadata and len(document.page_content.split()) < _FEW


def _neighbour(documents: Sequence[Document], place: int) -> int | None:
    """Choose the neighbour with the most headings in common; of two alike the next, which a short text mostly introduces."""
    plain = [number for number, document in enumerate(documents) if "role" not in document.metadata]
    here = plain.index(place)
    found = [plain[number] for number in (here + 1, here - 1) if 0 <= number < len(plain)]
    own = _path(documents[place])
    return max(found, key=lambda other: _closeness(own, _path(documents[other])), default=None)


def _closeness(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[int, bool]:
    common = len(_common(one, other))
    return common, len(one) == len(other) or common == min(len(one), len(other))


def _together(first: Document, second: Document) -> Document:
    paths = [_path(first), _path(second)]
    kept = _common(*paths)
    long = next((path for path, document in zip(paths, (first, second), strict=True) if _is_long(document)), None)
    kept = long or kept
    texts, offsets, within = [], [], []
    for document, path in zip((first, second), paths, strict=True):
        own = () if path == kept[: len(path)] else path[len(_common(path, kept)) :]
        above = "\n".join(own)
        within += [*own, *document.metadata.get("headings_within", ())]
        texts.append(f"{above}\n{document.page_content}" if above else document.page_content)
        offsets.append(len(above) + 1 if above else 0)
    both = joined((first, second), texts, offsets)
    metadata = {name: value for name, value in both.metadata.items() if name != "heading"}
    told = {"heading": " > ".join(kept), "headings_within": list(dict.fromkeys(within))}
    return both.model_copy(update={"metadata": metadata | {name: value for name, value in told.items() if value}})


def _is_long(document: Document) -> bool:
    return len(document.page_content.split()) > _ONE_PASSAGE


def _path(document: Document) -> tuple[str, ...]:
    heading = str(document.metadata.get("heading") or "")
    return tuple(heading.split(" > ")) if heading else ()


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]
