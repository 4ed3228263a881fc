"""What the final call is shown: the branches as findings, and their passages in order."""

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.tree import DROPPED, Branch, Passage, position
from ramify.nodes.tree.notes import partial
from ramify.prompts import Above, Finding
from ramify.tools.quoting import collapse_whitespace, truncate_line

SOURCES = 3
"""Most sources that a finding names."""
NAME = 60
"""Characters of each: a title comes from a document, and may be of any length."""
NOTE = 160
"""Characters of what is said of a branch that was dropped."""


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
        note=truncate_line(branch.note, NOTE) if branch.status in DROPPED else "" if branch.known else partial(branch.note),
        sources=list(rests_on)[:SOURCES],
        together=branch.together,
        above=[Above(path=one.path, question=one.question, together=one.together) for one in above],
    )


def named(passage: Passage) -> str:
    """Name a passage's document: its title and where it lies."""
    title, source = (collapse_whitespace(text)[:NAME] for text in (passage.title, passage.source))
    return f'"{title}" ({source})' if title and title != source else source


def shown_at_last(state: State, settings: Settings | type[Settings]) -> list[Branch]:
    """List the branches that the final call is shown: the whole tree, pruned ones too, or what holds at the end (leaves)."""
    branches = list(state["tree"].values())
    if settings.shown_at_last == "tree":
        return branches
    ends = [b for b in branches if b.status in {"leaf", "failed"} or b.aggregated]
    return [b for b in ends if b.answer is not None or b.evidence]


def ranked(state: State, branches: Iterable[Branch], by_value: bool = False) -> list[Passage]:
    """Order the passages of branches: first what answers rest on, then what was found.

    What was found is dealt round-robin, the deepest branches first, the names last, because that was found without the question; `by_value`
    orders it by the value that MMR gave it, best first, ties by path (ToR-RAG §5). The best passage of a name stands with what is cited.
    """
    kept = sorted((b for b in branches if b.status != "pruned"), key=lambda b: (-b.depth, position(b.path)))
    questions, entities = ([b for b in kept if b.kind == kind] for kind in ("question", "entity"))
    cited = _look_up(state, _deal([*(b.cited for b in questions), *(b.cited or b.evidence[:1] for b in entities)]))
    hands = ([b.evidence for b in questions], [b.evidence for b in entities])
    found = _look_up(state, [key for hand in hands for key in _deal(hand)])
    if by_value:
        by_path = sorted(kept, key=lambda b: position(b.path))
        found = sorted(_look_up(state, [key for b in by_path for key in b.evidence]), key=lambda passage: -passage.value)
    return list({passage.id: passage for passage in (*cited, *found)}.values())


def _deal(hands: Iterable[tuple[str, ...]]) -> list[str]:
    return [key for turn in zip_longest(*hands) for key in turn if key is not None]


def _look_up(state: State, ids: Iterable[str]) -> list[Passage]:
    return [state["passages"][key] for key in dict.fromkeys(ids) if key in state["passages"]]
