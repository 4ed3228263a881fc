"""What an answer rests on: the passages that the model cites; where it cites none, what it was shown, and marked so."""

from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.graphs.tool import research_tool
from ramify.lab.dataset import Question, Support
from ramify.lab.task import score_result
from ramify.nodes.tree.citation import NOT_CITED
from ramify.tools.index.passage_store import document_id
from tests.fakes import FakeModel
from tests.graphs.wirings import SEARCHING, Wiring, cases
from tests.river import QUESTION, model, replies, river


def silent() -> FakeModel:
    """Make a model that answers and cites nothing."""

    def reply(prompt: str, slots: Any) -> Any:
        said = replies(prompt, slots)
        return {**said, "citations": []} if "citations" in said else said

    return model(replies=reply)


def given(question: str = QUESTION) -> dict[str, Any]:
    return {"question": question, "model": silent(), "index": river()}


@pytest.mark.parametrize("wiring", cases(*SEARCHING))
def test_where_the_model_cites_nothing_what_it_was_shown_is_marked_so(wiring: Wiring) -> None:
    result = graphs.ask(strategy=wiring[0], **given(), **wiring[1])
    assert result.answer != "Unknown"
    assert 1 <= len(result.citations) <= 3
    assert {citation["cited"] for citation in result.to_json()["citations"]} == {False}


@pytest.mark.parametrize("wiring", cases(*SEARCHING))
def test_what_the_model_cites_is_not_marked(wiring: Wiring) -> None:
    result = graphs.ask(QUESTION, wiring[0], model=model(), index=river(), **wiring[1])
    assert {citation.cited for citation in result.citations} == {True}


def test_an_agent_is_reported() -> None:
    told = research_tool("naive", model=silent(), index=river()).invoke({"question": QUESTION})
    assert f"txt ({NOT_CITED}): " in told
    assert NOT_CITED not in research_tool("naive", model=model(), index=river()).invoke({"question": QUESTION})


def test_a_message_puts_no_number_behind_its_answer() -> None:
    talk = graphs.Conversation()
    result = talk.ask(strategy="naive", **given())
    first, text, *sources, sure, searched = [line for line in talk.messages[1].text.splitlines() if line]
    assert (first, text) == (result.answer, f"{result.answer}.")
    assert sources
    assert (sure, searched) == (f"Confidence: {result.confidence:.2f} of 1", "Searched: InMemoryVectorStore")
    assert all(line.endswith(f"({NOT_CITED})") for line in sources)


def test_supporting_facts_are_those_that_are_cited() -> None:
    said, silence = (graphs.ask(QUESTION, "naive", model=chat, index=river()) for chat in (model(), silent()))
    gold = tuple(Support(doc_id=document_id(citation.id)) for citation in said.citations)
    question = Question(id="1", question=QUESTION, answer="Seine", supporting=gold)
    assert score_result(question, said, "document")["retrieval"]["supporting_f1"] == 1
    assert score_result(question, silence, "document")["retrieval"]["supporting_f1"] == 0
