"""Findings and passages for the final call."""

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.tree import DROPPED, Branch, Passage, position
from ramify.nodes.tree.notes import read_missing_note
from ramify.prompts import Above, Finding
from ramify.tools.quoting import collapse_whitespace, truncate_line

MAX_SOURCES = 3
"""Maximum number of sources in a finding."""
MAX_SOURCE_CHARS = 60
"""Characters of each: a title comes from a document and may have any length."""
MAX_NOTE_CHARS = 160
"""Characters of the note of a dropped branch."""


def to_finding(branch: Branch, passages: Mapping[str, Passage], above: Iterable[Branch]) -> Finding:
    """Return a branch as prompts show it, with the sources of its answer; `above`: its ancestors, the root first."""
    rests_on = dict.fromkeys(format_source(passages[key]) for key in branch.cited if key in passages)
    return Finding(
        path=branch.path,
        kind=branch.kind,
        question=branch.question,
        answer=branch.answer or "",
        confidence=None if branch.answer is not None and not branch.known else branch.confidence or 0.0,
        status=branch.status,
        note=truncate_line(branch.note, MAX_NOTE_CHARS)
        if branch.status in DROPPED
        else ""
        if branch.known
        else read_missing_note(branch.note),
        sources=list(rests_on)[:MAX_SOURCES],
        together=branch.together,
        above=[Above(path=ancestor.path, question=ancestor.question, together=ancestor.together) for ancestor in above],
    )


def format_source(passage: Passage) -> str:
    """Return a passage's title and source in one line."""
    title, source = (collapse_whitespace(text)[:MAX_SOURCE_CHARS] for text in (passage.title, passage.source))
    return f'"{title}" ({source})' if title and title != source else source


def branches_for_final_call(state: State, settings: Settings | type[Settings]) -> list[Branch]:
    """Return the branches shown to the final call: the whole tree with pruned ones, or the leaves."""
    branches = list(state["tree"].values())
    if settings.final_call_branches == "tree":
        return branches
    ends = [b for b in branches if b.status in {"leaf", "failed"} or b.aggregated]
    return [b for b in ends if b.answer is not None or b.evidence]


def rank_passages(state: State, branches: Iterable[Branch], by_value: bool = False) -> list[Passage]:
    """Return the passages of branches in order: cited ones first, then the other ones found.

    What was found is dealt round-robin, the deepest branches first, the names last, because that was found without the question; `by_value`
    orders it by the value that MMR gave it, best first, ties by path (ToR-RAG §5). The best passage of a name stands with what is cited.
    """
    kept = sorted((b for b in branches if b.status != "pruned"), key=lambda b: (-b.depth, position(b.path)))
    questions, entities = ([b for b in kept if b.kind == kind] for kind in ("question", "entity"))
    cited = _look_up(state, _round_robin([*(b.cited for b in questions), *(b.cited or b.evidence[:1] for b in entities)]))
    hands = ([b.evidence for b in questions], [b.evidence for b in entities])
    others = _look_up(state, [key for hand in hands for key in _round_robin(hand)])
    if by_value:
        by_path = sorted(kept, key=lambda b: position(b.path))
        others = sorted(_look_up(state, [key for b in by_path for key in b.evidence]), key=lambda passage: -passage.value)
    return list({passage.id: passage for passage in (*cited, *others)}.values())


def _round_robin(hands: Iterable[tuple[str, ...]]) -> list[str]:
    return [key for turn in zip_longest(*hands) for key in turn if key is not None]


def _look_up(state: State, ids: Iterable[str]) -> list[Passage]:
    return [state["passages"][key] for key in dict.fromkeys(ids) if key in state["passages"]]
