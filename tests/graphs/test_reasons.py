"""The reason of an Unknown, in words: the same at every door, and no confidence beside it."""

import re
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.vectorstores import InMemoryVectorStore
from rich.console import Console

import ramify.graphs as graphs
from ramify.graphs.run import Result, ResultUsage
from ramify.graphs.tool import format_answer
from ramify.nodes.conversation import format_message
from ramify.nodes.state import MARK
from ramify.nodes.tree import Branch
from ramify.serve._chat import TreeNarration, markdown_paragraphs
from ramify.serve.mcp import ResearchOutput
from ramify.serve.questions import Event
from ramify.studio.drawing.mermaid import tree_mermaid
from ramify.studio.drawing.page import result_page
from ramify.studio.drawing.phrases import measures
from ramify.studio.drawing.terminal import print_answer
from tests.embeddings import WordEmbeddings
from tests.river import FIRST, QUESTION, but, model, river

UNKNOWN: dict[str, Any] = {"answer": "Unknown", "confidence": 0.98, "citations": []}
_TAG = re.compile("<[^>]*>")
NO_PASSAGES = InMemoryVectorStore(WordEmbeddings())


def only_the_first(slots: Any) -> dict[str, Any]:
    return {"answer": "Paris", "confidence": 0.97, "citations": [1]} if slots["question"] == FIRST else UNKNOWN


CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "nothing found": ("naive", {"index": NO_PASSAGES}, "nothing was found"),
    "found, without the answer": ("naive", {"model": but(answer=UNKNOWN)}, "the model finds no answer in what was found"),
    "a part": ("chain", {"model": but(answer=only_the_first, aggregate=UNKNOWN, finalize=UNKNOWN)}, "no answer was found to"),
    "no documents": ("closed-book", {}, "the model does not know"),
    "a budget": ("tor", {"model": but(answer=UNKNOWN, finalize=UNKNOWN), "max_calls": 2}, "max_calls"),
    "no point helps": ("global", {"model": but(map_report={"points": []}), "over": "passages"}, "nothing that was read helps"),
    "no passage relevant": ("iterative", {"model": but(filter={"relevant": [], "facts": [], "is_sufficient": False})}, "no passage"),
}


def told(**changes: Any) -> Result:
    """Return a result with some fields."""
    given = {"question": QUESTION, "strategy": "tor", "model": "m", "usage": ResultUsage(), "stopped_by": "finished", **changes}
    return Result.model_validate(given)


def branch(**changes: Any) -> Branch:
    return Branch.model_validate({"path": "0", "question": QUESTION, "status": "leaf", "answer": "Unknown", "confidence": 0.98, **changes})


def printed(result: Result, tree: bool = False) -> str:
    console = Console(record=True, width=300, quiet=False)
    print_answer(result, console, tree)
    return console.export_text()


def narrated(shown: Branch) -> str:
    return TreeNarration().describe(Event("tree", {"branches": [{**shown.model_dump(), "evidence": []}]}))


@pytest.mark.parametrize("name", CASES)
def test_every_door_gives_the_reason(name: str) -> None:
    strategy, options, reason = CASES[name]
    result = graphs.ask(QUESTION, strategy, **{"model": model(), "index": river(), **options})
    assert (result.answer, result.confidence) == ("Unknown", None)
    assert reason in result.explanation
    assert result.to_json()["explanation"] == result.explanation
    shown = result.explanation[1:20].replace("'", "")
    assert shown in format_answer(result)
    assert shown in printed(result)
    assert shown in "\n".join(markdown_paragraphs(result))
    assert shown in result_page(result)


def test_a_tool_a_subagent_and_mcp_give_it() -> None:
    options = {"model": but(answer=UNKNOWN), "index": river()}
    call = {"type": "tool_call", "id": "1", "name": "research", "args": {"question": QUESTION}}
    message = graphs.research_tool("naive", **options).invoke(call)
    reason = message.artifact["explanation"]
    assert reason
    assert reason in message.text
    checked = {"hold": 0, "fail": 0, "unchecked": 0, "total": 0, "summary": ""}
    assert ResearchOutput.model_validate({**message.artifact, "checked": checked}).explanation == reason
    state = graphs.research_subagent("naive", **options)["runnable"].invoke({"messages": [HumanMessage(QUESTION)]})
    assert state["structured_response"].explanation == reason


def test_a_conversation_keeps_it_and_its_message_says_it() -> None:
    talk = graphs.Conversation()
    result = talk.ask(QUESTION, "naive", model=but(answer=UNKNOWN), index=river())
    message = talk.messages[-1]
    assert result.explanation in message.text
    assert message.additional_kwargs[MARK]["explanation"] == result.explanation != ""


async def test_a_graph_returns_it() -> None:
    wiring, settings = graphs.configure("naive", {"model": but(answer=UNKNOWN), "index": river()})
    state = await wiring.ready.ainvoke({"question": QUESTION}, context=settings)
    assert state["explanation"]


def test_no_display_of_a_tree_shows_a_confidence_beside_unknown() -> None:
    known = branch(path="0.0", answer="Paris", confidence=0.91)
    result = told(answer="Unknown", tree={"0": branch(), "0.0": known})
    for shown in (printed(result, tree=True), tree_mermaid(result.tree), result_page(result), narrated(branch())):
        assert "0.98" not in shown
    assert "0.91" in printed(result, tree=True)
    assert measures(branch(answer=None)) == [("confidence", 0.98)]


@pytest.mark.parametrize(("confidence", "figure"), [(0.725, "0.72"), (0.7299, "0.72"), (0.7999, "0.79"), (0.29, "0.29"), (1.0, "0.99")])
def test_every_door_rounds_a_confidence_down(confidence: float, figure: str) -> None:
    tree = {"0": branch(answer="Seine", confidence=confidence)}
    result = told(answer="Seine", confidence=confidence, tree=tree)
    message = format_message("Seine", "", [], "", confidence)
    for shown in (
        printed(result, tree=True),
        format_answer(result),
        message,
        narrated(tree["0"]),
        tree_mermaid(tree),
        _TAG.sub("", result_page(result)),
    ):
        assert figure in shown
        assert f"{confidence:.2f}" in figure or f"{confidence:.2f}" not in shown
