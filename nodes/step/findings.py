"""What the final call is shown: the branches as findings, and their passages in order."""

from collections.abc import Callable, Iterable, Mapping
from itertools import zip_longest

from ramify.nodes.state import State
from ramify.nodes.tree import Branch, Passage, position
from ramify.prompts import Above, Finding
from ramify.tools.quoting import flatten

Rank = Callable[[State, list[Branch]], list[Passage]]


SOURCES = 3
"""Most sources that a finding names."""
NAME = 60
"""Characters of each: a title comes from a document, and may be of any length."""


def finding(branch: Branch, passages: Mapping[str, Passage], above: Iterable[Branch]) -> Finding:
    """Show a branch as a prompt does, with the sources that its answer rests on: else nobody can weigh them; `above`: the root first."""
    rests_on = dict.fromkeys(named(passages[key]) for key in branch.cited if key in passages)
    return Finding(
        path=branch.path,
        kind=branch.kind,
        question=branch.question,
        answer=branch.answer or "",
        confidence=branch.confidence or 0.0,
        status=branch.status,
        sources=list(rests_on)[:SOURCES],
        together=branch.together,
        above=[Above(path=one.path, question=one.question, together=one.together) for one in above],
    )


def named(passage: Passage) -> str:
    """Name a passage's document: its title and where it lies."""
    title, source = (flatten(text)[:NAME] for text in (passage.title, passage.source))
    return f'"{title}" ({source})' if title and title != source else source


def leaves(state: State) -> list[Branch]:
    """List the branches that hold at the end: leaves, and what failed with something in hand."""
    ends = [b for b in state["tree"].values() if b.status in {"leaf", "failed"}]
    return [b for b in ends if b.answer is not None or b.evidence]


def whole_tree(state: State) -> list[Branch]:
    """List all branches, pruned ones too: the serialised tree."""
    return list(state["tree"].values())


def by_turns(state: State, branches: list[Branch]) -> list[Passage]:
    """Deal the branches' passages round-robin, the deepest branches first: what answers rest on, then what questions found, then names.

    What a name found comes last, because it was found without the question and crowds out what was found with it.
    """
    kept = sorted((b for b in branches if b.status != "pruned"), key=lambda b: (-b.depth, position(b.path)))
    questions, entities = ([b for b in kept if b.kind == kind] for kind in ("question", "entity"))
    hands = ([b.cited for b in questions], [b.evidence for b in questions], [b.evidence for b in entities])
    return _look_up(state, [key for hand in hands for key in _deal(hand)])


def by_mmr(state: State, branches: list[Branch]) -> list[Passage]:
    """Order the branches' passages by the value MMR gave them, best first; ties go by path (ToR-RAG §5)."""
    ids = [key for branch in branches for key in branch.evidence]
    return sorted(_look_up(state, ids), key=lambda passage: -passage.value)


def _deal(hands: Iterable[tuple[str, ...]]) -> list[str]:
    return [key for turn in zip_longest(*hands) for key in turn if key is not None]


def _look_up(state: State, ids: Iterable[str]) -> list[Passage]:
    return [state["passages"][key] for key in dict.fromkeys(ids) if key in state["passages"]]
