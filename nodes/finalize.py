"""finalize: answer the whole question from the tree and its best passages, in one call."""

from collections.abc import Callable
from typing import Any

from ramify.nodes.asking.ask import Reply
from ramify.nodes.citation.citing import citations
from ramify.nodes.conclude import conclusion, stranded
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step import Update, Whole
from ramify.nodes.step.closing import closing
from ramify.nodes.step.single_call import model_call
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Passage, ancestors, is_unknown
from ramify.nodes.tree.findings import Rank, by_mmr, by_turns, finding, leaves, whole_tree
from ramify.prompts import FINALIZE, Final

Pick = Callable[[State], list[Branch]]


def finalize_with(pick: Pick, rank: Rank, name: str) -> Whole[Settings]:
    """Make a final step from what it is shown (`pick`) and how its passages are ordered (`rank`)."""

    @closing
    async def finalize(state: State, settings: Settings) -> Update:
        """Answer from the findings and their best passages; conflicts go by trust, majority, fit."""
        stranded(state)
        root = state["tree"][ROOT]
        if root.status == "leaf" and root.answer is not None:
            return conclusion(state, root)
        branches = pick(state)
        passages = tuple(rank(state, branches)[: settings.final_k])
        if not passages and not any(branch.known for branch in branches):
            return {"answer": UNKNOWN, "confidence": 0.0, "explanation": root.note or "nothing was found"}
        return await _settle(state, branches, passages)

    finalize.__doc__ = f"{finalize.__doc__} ({name})"
    return Whole(finalize, (), (), final=True)


async def _settle(state: State, branches: list[Branch], passages: tuple[Passage, ...]) -> Update:
    shown = [finding(branch, state["passages"], ancestors(state["tree"], branch.path)) for branch in branches]
    reply, update = await model_call(state, FINALIZE, passages, question=state["question"], findings=shown)
    if reply is not None:
        return {**update, **_answer(reply, state)}
    root = state["tree"][ROOT]
    return {**conclusion(state, root), **update}


def _answer(reply: Reply[Final], state: State) -> dict[str, Any]:
    final = reply.value
    known = not is_unknown(final.answer)
    return {
        "answer": final.answer.strip() if known else UNKNOWN,
        "confidence": reply.confidence,
        "confidence_source": reply.confidence_source,
        "settled_by": final.settled_by,
        "citations": citations(state, final.answer, reply.cited(), reply.shown()) if known else [],
    }


finalize = finalize_with(whole_tree, by_turns, "the whole tree")
finalize_leaves = finalize_with(leaves, by_mmr, "the leaves, passages by MMR value")
