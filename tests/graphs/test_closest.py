"""Where there is no answer, or one in doubt, the embedded model shows what comes closest; a language model answers in its own words."""

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from ramify.graphs.run import could_not_ask, why_unknown
from ramify.nodes.step import step as closing
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel
from tests.river import but, model, river

HOW = "How do I find the river that runs through Paris?"
NEAREST = "The river Seine runs through Paris."


@pytest.mark.parametrize("strategy", ["naive", "prune", "tor", "chain", "iterative"])
def test_the_embedded_model_quotes_what_comes_closest_to_a_how_to(strategy: str) -> None:
    result = graphs.ask(HOW, strategy, model="extractive", index=river())
    assert (result.answer, result.citations, result.stopped_by) == ("Unknown", [], "finished")
    assert result.closest[0].quote == NEAREST
    assert len(result.closest) <= 3
    assert "how something is done" in why_unknown(result)


def test_a_language_model_answers_it_itself() -> None:
    result = graphs.ask(HOW, "naive", model=model(), index=river())
    assert (result.answer, result.closest) == ("Seine", [])
    unknown = graphs.ask(HOW, "naive", model=but(answer={"answer": "Unknown", "confidence": 0.9, "citations": []}), index=river())
    assert (unknown.answer, unknown.closest) == ("Unknown", [])


@pytest.mark.parametrize("strategy", ["naive", "prune"])
def test_an_answer_in_doubt_has_what_comes_closest_beside_it(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "Which river runs through Paris?"
    index = river()
    sure = graphs.ask(asked, strategy, model="extractive", index=index)
    assert "Seine" in sure.answer
    assert sure.closest == []
    monkeypatch.setattr(closing, "_DOUBTED", sure.confidence + 0.01)
    doubted = graphs.ask(asked, strategy, model="extractive", index=index)
    assert (doubted.answer, doubted.citations) == (sure.answer, sure.citations)
    assert NEAREST in [citation.quote for citation in doubted.citations], "what is quoted as its source already …"
    assert doubted.closest, "… is not shown again; others are"
    assert not {passage.quote for passage in doubted.closest} & {citation.quote for citation in doubted.citations}


def test_an_agent_and_a_conversation_are_told() -> None:
    said = str(graphs.research_tool("naive", model="extractive", index=river()).invoke({"question": HOW}))
    assert "Closest passages" in said
    assert NEAREST in said
    talk = graphs.Conversation()
    talk.ask(HOW, "naive", model="extractive", index=river())
    assert NEAREST in talk.messages[-1].text
    answered = talk.ask("Which river runs through Paris?", "naive", model="extractive", index=river())
    assert answered.closest == [], "the next question begins anew"


def test_what_is_far_from_the_question_is_not_shown() -> None:
    assert graphs.ask("How do I bake sourdough bread?", "naive", model="extractive", index=river()).closest == []


def test_a_question_all_of_whose_branches_failed_was_not_asked() -> None:
    class Dead(FakeModel):
        async def _agenerate(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
            raise OSError("the wire was cut")

    result = graphs.ask("Which river runs through Paris?", "prune", model=Dead(replies=lambda prompt, slots: {}), index=river())
    assert (result.answer, result.stopped_by) == ("Unknown", "error")
    assert "the wire was cut" in could_not_ask(result)
    nothing = graphs.ask("Which river runs through Paris?", "naive", model=model(), index=InMemoryVectorStore(WordEmbeddings()))
    assert (nothing.stopped_by, could_not_ask(nothing), why_unknown(nothing)) == ("finished", "", "nothing was found")
