"""finalize (conclude): the root's own answer is the answer, without a further call."""

from ramify.nodes.citation.citing import citations
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step import Update, whole
from ramify.nodes.step.closing import closing
from ramify.nodes.tree import ROOT, UNKNOWN, WORKING, Branch
from ramify.tools.errors import UsageError


@whole(name="finalize")
@closing
async def conclude(state: State, settings: Settings) -> Update:
    """Give the root's answer, with the passages it rests on."""
    stranded(state)
    return conclusion(state, state["tree"][ROOT])


def conclusion(state: State, root: Branch) -> Update:
    """Take the answer from the root; without one it is Unknown, and the root's note says why."""
    if root.answer is None:
        return {"answer": UNKNOWN, "confidence": 0.0, "explanation": root.note}
    return {
        "answer": root.answer if root.known else UNKNOWN,
        "confidence": root.confidence or 0.0,
        "confidence_source": root.confidence_source,
        "citations": citations(state, root.answer, root.cited, root.evidence) if root.known else [],
    }


def stranded(state: State) -> None:
    """Raise UsageError where a branch still wants work that no step of this graph does."""
    left = [branch for branch in state["tree"].values() if branch.status in WORKING]
    if left:
        what = f"branch {left[0].path!r} is {left[0].status!r} and no step of this graph takes it"
        raise UsageError(what, "edit its status: open is searched and answered again, leaf or pruned is settled")
