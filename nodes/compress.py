"""compress: answer shortly from the facts and passages that the filter kept (Iterative RAG, step 4)."""

from ramify.nodes.settings import IterativeSettings
from ramify.nodes.state import Search
from ramify.nodes.step import Context, Update, call_model
from ramify.nodes.step.final_step import final_step
from ramify.nodes.step.text import cite_reply, text_streamer
from ramify.nodes.tree import UNKNOWN
from ramify.nodes.tree.citation import without_trailing_marks
from ramify.prompts import COMPRESS


@final_step
async def compress(context: Context[IterativeSettings]) -> Update:
    """Answer shortly from the facts and passages that were kept, and explain it with its sources."""
    state, settings = context.state, context.settings
    search: Search = state["search"]
    found = [state["passages"][key] for key in search.support[: settings.final_k]]  # in the order they were found so
    passages = tuple(passage.model_copy(update={"text": passage.text[: settings.passage_chars]}) for passage in found)
    if not passages:
        return _nothing_found(search)
    facts = list(search.facts[: settings.final_facts])
    reply, update = await call_model(state, COMPRESS, passages, on_text=text_streamer(state), question=state["question"], facts=facts)
    if reply is None:
        return update
    answer = without_trailing_marks(reply.value.answer)
    return {
        **update,
        "answer": answer or UNKNOWN,
        "confidence": reply.confidence,
        "confidence_source": reply.confidence_source,
        "explanation": "" if reply.value.explanation in state["notices"] else reply.value.explanation,  # not twice
        **cite_reply(state, answer or UNKNOWN, reply),
    }


def _nothing_found(search: Search) -> Update:
    """Return Unknown with the reason; if every round failed, the question was stopped by an error."""
    lost = f"; {search.lost} of {search.round} rounds of reading failed" if search.lost else ""
    told: Update = {"answer": UNKNOWN, "explanation": f"no passage was found relevant{lost}"}
    return {**told, "stopped_by": "error"} if search.lost and search.lost == search.round else told
