"""What a weak fork leaves to the next attempt: its better half, with its answer (ToR-RAG §4)."""

from collections.abc import Sequence

from ramify.nodes.tree import Branch, position
from ramify.nodes.tree.notes import filled as put_in
from ramify.nodes.tree.references import filled, holes
from ramify.nodes.tree.selection import Fork
from ramify.nodes.tree.twins import wording

KEPT = frozenset({"question", "answer", "confidence", "confidence_source", "evidence", "cited"})


def better_half(fork: Fork) -> Branch | None:
    """Find the half of a pruned pair that was not the weaker.

    None where the judge has named none, and where one half hangs from the other in vain: the second hop of a bridge falls with the first.
    """
    weaker = next((child for child in fork.pair if child.path == fork.branch.weaker and child.status == "pruned"), None)
    better = next((child for child in fork.pair if child is not weaker), None)
    if weaker is None or better is None or better.awaits == weaker.path:
        return None
    return None if weaker.awaits == better.path and not better.known else better


def replacing(questions: Sequence[str], better: Branch) -> list[str]:
    """Read a new pair as the better half and the question in place of the weaker, whichever comes first."""
    anew = [text for text in questions if wording(Branch(path=better.path, question=text)) != wording(better)]
    return [better.question, *anew[-1:]]


def carried(fork: Fork, better: Branch, instead: str) -> list[Branch]:
    """Make the next pair: the better half with what came of it, in its place, and the question that is asked instead of the weaker.

    A question that builds on the better half's answer is filled in at once, and comes second; none where it has no answer.
    """
    start = max(position(child.path)[-1] for child in fork.children) + 1
    paths = [f"{fork.branch.path}.{start + n}" for n in range(2)]
    asked = filled(instead, [better.answer if better.known else None])
    if asked is None:
        return []
    builds = bool(holes(instead))
    first, second = paths if builds or better.path != fork.pair[-1].path else reversed(paths)
    known = better.model_dump(include=set(KEPT))
    kept = Branch(path=first, status="failed" if better.answer is None else "answered", note=f"carried over from {better.path}", **known)
    anew = Branch(path=second, question=asked)
    if builds:
        anew = anew.to(anew.status, awaits=first, note=put_in(better.answer, first))
    return sorted((kept, anew), key=lambda branch: position(branch.path))
