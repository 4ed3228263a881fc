"""finalize: answer the whole question in one call, from the tree and its best passages or the facts found; or by what the root has."""

from collections.abc import Callable
from typing import Any

from ramify.nodes.asking.ask import Reply
from ramify.nodes.citation import SHOWN, Citation, cite, headings
from ramify.nodes.settings import IterativeSettings, Settings
from ramify.nodes.state import IterativeState, Search, State
from ramify.nodes.step import Update, Whole, model_call, whole
from ramify.nodes.step.findings import Rank, by_mmr, by_turns, finding, leaves, whole_tree
from ramify.nodes.step.last_step import closing
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Passage, ancestors, is_unknown
from ramify.prompts import COMPRESS, FINALIZE, Final
from ramify.tools.supporting_sentence import Asked, carrying

Pick = Callable[[State], list[Branch]]


def finalize_with(pick: Pick, rank: Rank, name: str) -> Whole[Settings]:
    """Make a final step from what it is shown (`pick`) and how its passages are ordered (`rank`)."""

    @closing
    async def finalize(state: State, settings: Settings) -> Update:
        """Answer from the findings and their best passages; conflicts go by trust, majority, fit."""
        root = state["tree"][ROOT]
        if root.status == "leaf" and root.answer is not None:
            return conclusion(state, root)
        branches = pick(state)
        passages = tuple(rank(state, branches)[: settings.final_k])
        if not passages and not any(branch.known for branch in branches):
            return {"answer": UNKNOWN, "confidence": 0.0, "explanation": root.note or "nothing was found"}
        findings = [finding(branch, state["passages"], ancestors(state["tree"], branch.path)) for branch in branches]
        reply, update = await model_call(state, FINALIZE, passages, question=state["question"], findings=findings)
        return {**conclusion(state, root), **update} if reply is None else {**update, **_answer(reply, state)}

    finalize.__doc__ = f"{finalize.__doc__} ({name})"
    return Whole(finalize, (), (), final=True)


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


@whole(name="finalize")
@closing
async def conclude(state: State, settings: Settings) -> Update:
    """Give the root's answer, with the passages it rests on, without a further call."""
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


@whole(final=True, name="finalize")
@closing
async def compress(state: IterativeState, settings: IterativeSettings) -> Update:
    """Answer shortly from the facts and passages that the filter kept, and explain it with its sources (Iterative RAG, step 4)."""
    found = [state["passages"][key] for key in state["search"].support[: settings.final_k]]  # in the order they were found so
    passages = tuple(passage.model_copy(update={"text": passage.text[: settings.passage_chars]}) for passage in found)
    if not passages:
        return _nothing(state["search"])
    facts = list(state["search"].facts[: settings.final_facts])
    reply, update = await model_call(state, COMPRESS, passages, question=state["question"], facts=facts)
    if reply is None:
        return update
    return {
        **update,
        "answer": reply.value.answer.strip() or UNKNOWN,
        "confidence": reply.confidence,
        "confidence_source": reply.confidence_source,
        "explanation": "" if reply.value.explanation in state["notices"] else reply.value.explanation,  # said once
        "citations": [] if is_unknown(reply.value.answer) else citations(state, reply.value.answer, reply.cited(), reply.shown()),
    }


def _nothing(search: Search) -> Update:
    """Say that nothing was found relevant; where every round was lost, the model never read anything."""
    lost = f"; rounds of reading that were lost: {search.lost} of {search.round}" if search.lost else ""
    told: Update = {"answer": UNKNOWN, "confidence": 0.0, "explanation": f"no passage was found relevant{lost}"}
    return {**told, "stopped_by": "error"} if search.lost and search.lost == search.round else told


def citations(state: State, answer: str, cited: tuple[str, ...], shown: tuple[str, ...]) -> list[Citation]:
    """Turn the ids of the cited passages into citations, each once; where none is cited, the first that were shown, marked so."""
    ids = cited or shown[:SHOWN]
    passages = [state["passages"][key] for key in dict.fromkeys(ids) if key in state["passages"]]
    quotes = [carrying(passage.text, _asked(state, answer, passage), headings(passage)) for passage in passages]
    return cite(passages, quotes, bool(cited))


def _asked(state: State, answer: str, passage: Passage) -> list[Asked]:
    """List what a passage may be quoted for: the answer, then those of the branches that cite it."""
    below = [branch for branch in state["tree"].values() if branch.known and passage.id in branch.cited]
    return [Asked(state["question"], answer), *(Asked(branch.question, branch.answer or "") for branch in below)]
