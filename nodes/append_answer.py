"""append_answer: append the answer to the messages of the conversation."""

from langchain_core.messages import AIMessage

from ramify.nodes.settings import Settings
from ramify.nodes.state import MARK, answer_id
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import is_unknown, to_row
from ramify.nodes.tree.citation import Citation, Sentence, without_marks
from ramify.nodes.tree.notes import confidence_figure
from ramify.nodes.tree.phrases import check_advice
from ramify.tools.quoting import one_line

MESSAGE_FIELDS = ("question", "answer", "text", "confidence", "explanation", "stopped_by", "notices", "model", "index")


@state_step
async def append_answer(context: Context[Settings]) -> Update:
    """Append a message with the answer and its sources; its metadata has confidence, citations, tree and usage as JSON values."""
    state = context.state
    values = {name: state[name] for name in MESSAGE_FIELDS}
    if asked_back := state.get("asked_back"):
        values["asked_back"] = asked_back
    citations = [Citation.model_validate(citation) for citation in state["citations"]]  # a state may be edited by hand
    values |= {
        "citations": [citation.model_dump() for citation in citations],
        "sentences": [Sentence.model_validate(sentence).model_dump() for sentence in state["sentences"]],
        "tree": [to_row(branch) for branch in state["tree"].values()],
        "usage": state["usage"].model_dump(),
    }
    shown = (state["answer"], state["text"], citations, state["index"], state["confidence"], state["explanation"])
    text = asked_back or format_message(*shown)
    return {"messages": [AIMessage(text, id=answer_id(state), additional_kwargs={MARK: values})]}


def format_message(answer: str, text: str, citations: list[Citation], index: str, confidence: float | None, explanation: str = "") -> str:
    """Return a message: the answer (for Unknown, with the reason), its text if that says more, the sources, and the confidence.

    Without a text, the numbers follow the answer, so that the message alone suffices for citing.
    """
    cited = [number for number, citation in enumerate(citations, 1) if citation.cited]
    marks = "" if text else "".join(f"[{number}]" for number in cited if f"[{number}]" not in answer)
    sources = [f"[{number}] {citation.where}{citation.mark}" for number, citation in enumerate(citations, 1)]
    short = "" if answer and answer in (text, without_marks(text)) else f"{answer} {marks}".rstrip()
    advice = f" ({check_advice(confidence)})" if check_advice(confidence) else ""
    sure = "" if confidence is None else f"Confidence: {confidence_figure(confidence)} of 1{advice}"
    why = one_line(explanation) if is_unknown(answer) else ""
    return "\n\n".join(filter(None, [short, why, text, "\n".join(sources), sure, f"Searched: {index}" if index else ""]))
