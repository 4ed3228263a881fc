"""append_answer: say the answer as a message, for the turns that follow and for whoever reads the conversation."""

from langchain_core.messages import AIMessage

from ramify.nodes.settings import Settings
from ramify.nodes.state import Citation
from ramify.nodes.state.turns import MARK
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import row

TOLD = ("question", "answer", "confidence", "stopped_by", "notices", "model", "index")


@state_step()
async def append_answer(context: Context[Settings]) -> Update:
    """Say the answer with its sources; the message carries confidence, citations, tree and cost as plain values."""
    state = context.state
    told = {name: state[name] for name in TOLD}
    if asked_back := state.get("asked_back"):
        told["asked_back"] = asked_back
    told |= {
        "citations": [citation.model_dump() for citation in state["citations"]],
        "closest": [citation.model_dump() for citation in state["closest"]],
        "tree": [row(branch) for branch in state["tree"].values()],
        "usage": state["usage"].model_dump(),
    }
    text = asked_back or said(state["answer"], state["citations"], state["closest"], state["index"])
    return {"messages": [AIMessage(text, additional_kwargs={MARK: told})]}


def said(answer: str, citations: list[Citation], closest: list[Citation], index: str) -> str:
    """Write an answer with its numbered sources, or what comes closest; only what is cited has its number behind the answer."""
    cited = [number for number, citation in enumerate(citations, 1) if citation.cited]
    marks = "".join(f"[{number}]" for number in cited if f"[{number}]" not in answer)
    sources = [f"[{number}] {citation.where}{citation.mark}" for number, citation in enumerate(citations, 1)]
    near = [f"[{number}] {citation.where}: {citation.quote}" for number, citation in enumerate(closest, len(citations) + 1)]
    parts = [f"{answer} {marks}".rstrip(), "\n".join(sources), "\n".join(["Closest passages:", *near]) if near else ""]
    return "\n\n".join(filter(None, [*parts, f"Searched: {index}" if index else ""]))
