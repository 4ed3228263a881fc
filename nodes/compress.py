"""finalize (compress): answer from the facts and passages that the filter kept (Iterative RAG, step 4)."""

from ramify.nodes.citation.citing import citations
from ramify.nodes.conclude import stranded
from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import IterativeState, Search
from ramify.nodes.step import Update, whole
from ramify.nodes.step.closing import closing
from ramify.nodes.step.single_call import model_call
from ramify.nodes.tree import UNKNOWN, Passage, is_unknown
from ramify.prompts import COMPRESS


@whole(final=True, name="finalize")
@closing
async def compress(state: IterativeState, settings: IterativeSettings) -> Update:
    """Answer shortly from what was kept, and explain it with its sources."""
    stranded(state)
    passages = kept(state, settings)
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


def kept(state: IterativeState, settings: IterativeSettings) -> tuple[Passage, ...]:
    """Give the passages to answer from in the order they were found so, cut to `passage_chars`."""
    ids = state["search"].support[: settings.final_k]
    return tuple(state["passages"][key].model_copy(update={"text": state["passages"][key].text[: settings.passage_chars]}) for key in ids)
