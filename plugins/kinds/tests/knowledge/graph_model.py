"""A fake language model that extracts the names of the valley, and builds with it."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from plugins.kinds.tests.knowledge.valley import SMALL, write
from ramify.kinds.building import build_graph
from ramify.kinds.knowledge.build import GraphBuild
from ramify.nodes.state import Usage
from ramify.tools.index import Index
from tests.fakes import FakeModel
from tests.tools.fakes import WordEncoder

KINDS = {
    "Ada Lantz": "person", "Ben Adair": "person", "Brannoch Mine": "place", "Drumlow": "place", "Harrow Point": "place",
    "Hollin Bridge": "place", "Ivor Kells": "person", "Jonas Merrin": "person", "Kells Company": "organisation", "Lapwing": "ship",
    "Lisk Hall": "place", "Marrow Quartet": "organisation", "Mount Brannoch": "place", "Nell Garvey": "person", "Orla Finch": "person",
    "Oskel": "place", "Oskel Company": "organisation", "Piet Corrow": "person", "Selby Works": "organisation", "Skerry Light": "place",
    "Thea Kells": "person", "Tolvey College": "organisation", "Vane": "place",
}  # fmt: skip
NAMES = {name.casefold() for name in KINDS}
Lines = dict[str, list[str]]


def extract_from(text: str) -> Lines:
    """Return the names of the valley in a text, and relations of adjacent ones."""
    names = sorted((name for name in KINDS if name in text), key=text.index)
    return {
        "entities": [f"{name} | {KINDS[name]} | {name} is in {len(text)} signs of text." for name in names],
        "relations": [f"{one} | {other} | {one} goes with {other}." for one, other in pairwise(names)],
    }


def replies(prompt: str, slots: Mapping[str, Any]) -> Any:
    """Return the reply to a prompt."""
    if prompt == "extract":
        return extract_from(str(slots["text"]))
    if prompt == "claims":
        return {"claims": [f"{name} | NONE | being | {name} is told of. | 1852 | | {name}" for name in slots["names"].split(", ")]}
    known: dict[str, Any] = {
        "glean": {"entities": [], "relations": []},
        "describe": {"description": f"{slots.get('name')} in one go."},
        "report": {
            "title": "A community",
            "summary": "What holds it together.",
            "importance": 0.5,
            "findings": ["It is told of here. [1]", "And here as well. [2, 1]", "And nowhere."],
        },
    }
    return known[prompt]


def graph_model() -> FakeModel:
    """Return the fake model."""
    return FakeModel(replies=replies)


def graph_model_with(**changes: Any) -> FakeModel:
    """Return the fake model with other replies: a function of the slots, or the reply itself, by prompt name."""

    def changed(prompt: str, slots: Mapping[str, Any]) -> Any:
        change = changes.get(prompt)
        if change is None:
            return replies(prompt, slots)
        return change(slots) if callable(change) else change

    return FakeModel(replies=changed)


def build_index(folder: Path) -> Path:
    """Make an index of the valley, without a graph."""
    Index.build([write(folder.parent / "documents")], folder, WordEncoder())
    return folder


def build_with_model(folder: Path, chat: FakeModel | str | None = None, **options: Any) -> tuple[GraphBuild, Usage]:
    """Build the graph of an index with a model, small communities and no gleaning."""
    return build_graph(folder, {**SMALL, "gleanings": 0, "model": chat or graph_model(), **options})
