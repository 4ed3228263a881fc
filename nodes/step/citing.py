"""The passages that an answer rests on as citations: where each lies, and the sentence in it that carries the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

from ramify.nodes.citation import Citation, Source
from ramify.nodes.state import State
from ramify.nodes.tree import Passage
from ramify.tools.quoting import one_line
from ramify.tools.supporting_sentence import Asked, carrying
from ramify.tools.text_location import crumbs, link_of, names, page_of, path_of

SHOWN = 3
"""Passages given beside an answer that cites none."""


def citations(state: State, answer: str, cited: tuple[str, ...], shown: tuple[str, ...]) -> list[Citation]:
    """Turn the ids of the cited passages into citations, each once; where none is cited, the first that were shown, marked so."""
    ids = cited or shown[:SHOWN]
    passages = [state["passages"][key] for key in dict.fromkeys(ids) if key in state["passages"]]
    quotes = [carrying(passage.text, _asked(state, answer, passage), headings(passage)) for passage in passages]
    return cite(passages, quotes, bool(cited))


def cite(passages: Sequence[Passage], quotes: Sequence[str], cited: bool) -> list[Citation]:
    """Make citations of passages and of what of each is quoted; files of one name are told apart."""
    places = [(passage.source, path_of(passage.source, passage.metadata)) for passage in passages]
    return [
        Citation(
            id=passage.id,
            text=passage.text,
            quote=quote,
            cited=cited,
            also=_also(passage),
            **_place(passage.source, passage.metadata, name),
        )
        for passage, quote, name in zip(passages, quotes, names(places), strict=True)
    ]


def headings(passage: Passage) -> list[str]:
    """List title and headings of a passage: what stands above its text, or as a line in it, is not what it says."""
    within = passage.metadata.get("headings_within")
    lines = [str(line) for line in within] if isinstance(within, list) else []
    return [passage.title, *crumbs("", str(passage.metadata.get("heading") or "")), *lines]


def _asked(state: State, answer: str, passage: Passage) -> list[Asked]:
    """List what a passage may be quoted for: the answer, then those of the branches that cite it."""
    below = [branch for branch in state["tree"].values() if branch.known and passage.id in branch.cited]
    return [Asked(state["question"], answer), *(Asked(branch.question, branch.answer or "") for branch in below)]


def _also(passage: Passage) -> list[Source]:
    """Read the further sources of a passage; what is not of their form is passed over."""
    listed = passage.metadata.get("also")
    items = listed if isinstance(listed, list) else []
    found = [item for item in items if isinstance(item, Mapping) and isinstance(item.get("source"), str)]
    named = names([(item["source"], path_of(item["source"], item)) for item in found])
    return [Source(**_place(item["source"], item, name)) for item, name in zip(found, named, strict=True)]


def _place(source: str, metadata: Mapping[str, Any], name: str) -> dict[str, Any]:
    title, heading, sheet = (one_line(metadata.get(key) or "") for key in ("title", "heading", "sheet"))
    above = dict.fromkeys([*([f"sheet {sheet}"] if sheet else []), *(part for part in crumbs(title, heading) if part != sheet)])
    return {
        "source": source,
        "name": one_line(name),
        "title": title,
        "heading": " > ".join(above),
        "page": page_of(metadata),
        "path": path_of(source, metadata),
        "link": link_of(source, metadata),
    }
