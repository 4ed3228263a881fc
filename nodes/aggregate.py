"""aggregate: answer an inner branch from its children (PruneRAG, recursive backtrace)."""

from ramify.nodes.answer import with_answer
from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import PruneSettings, Settings
from ramify.nodes.state import State, evidence_of
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.findings import finding
from ramify.nodes.step.selection import Fork, Selection, settled_fork
from ramify.nodes.tree import Branch, Passage, ancestors
from ramify.prompts import AGGREGATE


class Gathered(Fork):
    """A fork with the passages of the branch and its children, each once, and the branches above it, the root first."""

    passages: tuple[Passage, ...] = ()
    ancestors: tuple[Branch, ...] = ()


def _gather(state: State, branch: Branch, settings: Settings) -> Gathered | None:
    fork = settled_fork("split").see(state, branch, settings)
    if fork is None:
        return None
    passages = {p.id: p for b in (*fork.children, branch) for p in evidence_of(state, b)}
    higher = tuple(ancestors(state["tree"], branch.path))
    return Gathered(branch=branch, children=fork.children, passages=tuple(passages.values()), ancestors=higher)


@each(Selection(frozenset({"split"}), _gather), gives=("inner",))
async def aggregate(given: Gathered, settings: PruneSettings) -> Growth:
    """Answer a branch from the answers of its children."""
    passages = {passage.id: passage for passage in given.passages}
    above = (*given.ancestors, given.branch)
    findings = [finding(child, passages, above) for child in given.children if child.status != "pruned"]
    reply = await ask(AGGREGATE, given.passages, question=given.branch.question, findings=findings)
    return grow(with_answer(given.branch, reply, "inner"))
