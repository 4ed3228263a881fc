"""The text of an answer: sentences with their citations, in every strategy, written by a language model or quoted by the embedded one."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from ramify.graphs.run import Result, failure_reason
from ramify.nodes.settings import Settings
from ramify.nodes.step.text import parse_sentences
from ramify.nodes.tree.citation import without_marks
from ramify.tools.errors import ModelError
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel
from tests.river import QUESTION, but, model, replies, river

HOW = "How do I find the river that runs through Paris?"
NEAREST = "The river Seine runs through Paris."
TEXT = "Paris is the capital of France [1]. The Seine runs through it [2]. It was Ann who said so [9]."
CONCLUDING = ("finalize", "compress", "write", "reduce")


def writing(text: str = TEXT, **changed: Mapping[str, Any]) -> FakeModel:
    """Give a model that writes this text wherever one is asked for."""

    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any] | str:
        if prompt == "write":
            return {"text": text}
        said = changed.get(prompt) or replies(prompt, slots)
        return {**said, "text": text} if prompt in CONCLUDING and isinstance(said, Mapping) else said

    return FakeModel(replies=reply, writes=True)


class TextReader:
    """A watcher that keeps the text as far as it has been handed on, each time it grows."""

    reads_text = True

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __call__(self, kind: str, event: Any) -> None:
        if kind == "custom":
            self.heard.append(event["text"])


def texts(result: Result) -> list[str]:
    return [sentence.text for sentence in result.sentences]


@pytest.mark.parametrize("strategy", ["naive", "prune", "tor", "chain", "ircot", "self-ask", "react", "iterative"])
class TestWritten:
    def test_each_sentence_has_its_citations_and_what_is_not_there_is_not_cited(self, strategy: str) -> None:
        result = graphs.ask(QUESTION, strategy, model=writing(), index=river())
        assert len(texts(result)) == 3
        assert not result.quoted
        assert "[9]" not in result.text
        for sentence in result.sentences:
            assert all(0 < number <= len(result.citations) for number in sentence.citations)
        assert result.sentences[0].citations
        assert result.sentences[-1].citations == ()

    def test_a_short_answer_costs_no_call_more(self, strategy: str) -> None:
        asked = writing()
        result = graphs.ask(QUESTION, strategy, model=asked, index=river(), style="short")
        assert (result.text, result.sentences) == ("", [])
        assert not asked.asked("write")

    def test_at_most_one_call_is_made_for_it_and_none_where_one_concludes_anyway(self, strategy: str) -> None:
        asked = writing()
        graphs.ask(QUESTION, strategy, model=asked, index=river())
        concluded = [name for name, _ in asked.calls if name in CONCLUDING]
        assert len(concluded) == 1

    def test_it_is_handed_on_while_it_is_written(self, strategy: str) -> None:
        graphs.ask(QUESTION, strategy, reader := TextReader(), model=writing(), index=river())
        assert reader.heard
        assert reader.heard[-1] == without_marks(TEXT)
        assert all(later.startswith(before) for before, later in pairwise(reader.heard))


def test_the_reply_that_answers_the_whole_question_has_its_text_too() -> None:
    said = {**replies("answer", {"question": QUESTION}), "answer": "Seine", "citations": [2], "text": TEXT}
    asked = writing(answer=said)
    result = graphs.ask(QUESTION, "naive", reader := TextReader(), model=asked, index=river())
    assert [name for name, _ in asked.calls] == ["answer"]
    assert (result.answer, len(texts(result)), result.quoted) == ("Seine", 3, False)
    assert [citation.text for citation in result.citations if citation.cited] == [
        result.passages[key].text for key in result.tree["0"].cited
    ]
    assert result.sentences[-1].citations == ()
    assert reader.heard[-1] == without_marks(TEXT)


@pytest.mark.parametrize("style", ["short", "quoted"])
def test_a_short_answer_is_not_handed_on_as_a_text(style: str) -> None:
    graphs.ask(QUESTION, "naive", reader := TextReader(), model=writing(), index=river(), style=style)
    assert reader.heard == []


SURE = {"action": "answer", "answer": "Seine", "confidence": 0.99, "citations": [1], "questions": [], "entities": []}


def test_a_decision_that_answers_the_whole_question_has_its_text_and_that_of_a_sub_question_has_none() -> None:
    asked = writing(decide={**SURE, "text": "It is the Seine [1]."})
    result = graphs.ask(QUESTION, "prune", model=asked, index=river())
    assert [name for name, _ in asked.calls] == ["decide"]
    assert texts(result) == ["It is the Seine."]
    split = writing()
    graphs.ask(QUESTION, "prune", model=split, index=river())
    shown = {
        slots["question"]: str(messages[-1].content)
        for (name, slots), messages in zip(split.calls, split.heard, strict=True)
        if name == "decide"
    }
    assert len(shown) > 1
    assert [question for question, message in shown.items() if '"text"' in message] == [QUESTION]


def test_another_answer_is_told_without_the_text_of_the_one_before() -> None:
    def decide(slots: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**SURE, "answer": "Rhine", "confidence": 0.5, "text": "It is the Rhine [1]."} if not slots["hint"] else SURE

    asked = but(decide=decide)
    result = graphs.ask(QUESTION, "prune", model=asked, index=river(), style="full")
    assert result.answer == "Seine"
    assert "Rhine" not in result.text
    assert asked.asked("write")


def test_what_is_answered_from_memory_cites_nothing_and_is_not_checked() -> None:
    known = {"answer": "Seine", "confidence": 0.9, "citations": []}
    result = graphs.ask(QUESTION, "closed-book", model=writing("The Seine runs through Paris.", closed_book=known), index=river())
    assert [(sentence.citations, sentence.supported) for sentence in result.sentences] == [((), None)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One [1]. Two [2].", [("One.", (1,)), ("Two.", (2,))]),
        ("One. [1] Two. [1, 2]", [("One.", (1,)), ("Two.", (1, 2))]),
        ("One [1], [2].", [("One.", (1, 2))]),
        ("One [1-3].", [("One.", (1, 2, 3))]),
        ("One [Passage 2].", [("One.", (2,))]),
        ("One [1 and 3].", [("One.", (1, 3))]),
        ("One【2】.", [("One.", (2,))]),
        ('She said "one." [1] Then two. [2]', [('She said "one."', (1,)), ("Then two.", (2,))]),
        ("It opened (1852.) [1] Two [2].", [("It opened (1852.)", (1,)), ("Two.", (2,))]),
        ("Use `a[1]` here [2].", [("Use `a[1]` here.", (2,))]),
        ("One.\n[1]", [("One.", (1,))]),
        ("1. First [1].\n2. Second [2].", [("1. First.", (1,)), ("2. Second.", (2,))]),
        ("One [7].", [("One.", ())]),
        ("", []),
        ("The Seine runs there [0.0], says (finding 0.1) [2].", [("The Seine runs there, says.", (2,))]),
    ],
)
def test_marks_are_read_however_they_are_written(text: str, sentences: list[tuple[str, tuple[int, ...]]]) -> None:
    found = parse_sentences(text, {number: [number] for number in (1, 2, 3)})
    assert [(one.text, one.citations) for line in found for one in line] == sentences


def test_a_model_that_becomes_unavailable_at_the_text_leaves_the_answer_as_it_is() -> None:
    class Lost(FakeModel):
        async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            if messages[-1].additional_kwargs["ramify"]["prompt"] == "write":
                raise ModelError("the server is gone", "start it")
            return await super()._agenerate(messages, *args, **kwargs)

    result = graphs.ask("Which river runs through Paris?", "naive", model=Lost(replies=replies), index=river())
    assert (result.answer, result.stopped_by, result.error, failure_reason(result)) == ("Seine", "finished", "", "")
    assert result.quoted


def test_a_number_behind_a_short_answer_is_no_part_of_it() -> None:
    marked = {"answer": "Seine [2]", "confidence": 0.9, "citations": [1], "settled_by": "agreement"}
    assert graphs.ask(QUESTION, "chain", model=but(finalize=marked), index=river()).answer == "Seine"
    unknown = {"answer": "Unknown [1]", "confidence": 0.9, "citations": [], "settled_by": "unsettled"}
    assert graphs.ask(QUESTION, "chain", model=but(finalize=unknown), index=river()).confidence is None


def test_what_its_sources_do_not_say_is_marked() -> None:
    said = "The Seine runs through Paris [1]. It is 777 km long [1]. Napoleon swam in it [1]."
    result = graphs.ask("Which river runs through Paris?", "naive", model=writing(said), index=river())
    assert [sentence.supported for sentence in result.sentences] == [True, False, False]
    unchecked = graphs.ask("Which river runs through Paris?", "naive", model=writing(said), index=river(), check="none")
    assert [sentence.supported for sentence in unchecked.sentences] == [None, None, None]


def test_a_model_may_be_asked_to_check_them() -> None:
    said = "The Seine runs through Paris [1]. The river Seine is in Paris [1]."
    asked = writing(said, check={"unsupported": [2]})
    result = graphs.ask("Which river runs through Paris?", "naive", model=asked, index=river(), check="model")
    assert [sentence.supported for sentence in result.sentences] == [True, False]
    assert len(asked.asked("check")) == 1


def test_without_a_reader_the_model_alone_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.nodes.step.support.find_reader", lambda: None)
    asked = writing("The Seine runs through Paris [1]. The river Seine is in Paris [1].", check={"unsupported": [2]})
    result = graphs.ask("Which river runs through Paris?", "naive", model=asked, index=river(), check="model")
    assert [sentence.supported for sentence in result.sentences] == [True, False]


def test_without_a_reader_a_check_by_it_is_told_not_to_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramify.nodes.step.support.find_reader", lambda: None)
    asked = writing("The Seine runs through Paris [1].")
    for options, is_told in (({"check": "reader"}, True), ({}, False)):
        result = graphs.ask("Which river runs through Paris?", "naive", model=asked, index=river(), **options)
        assert [sentence.supported for sentence in result.sentences] == [None]
        assert any("were not checked" in notice for notice in result.notices) == is_told


def test_an_unknown_answer_has_no_confidence_but_what_was_found() -> None:
    unknown = {"answer": "Unknown", "confidence": 0.9, "citations": [], "settled_by": "unsettled"}
    told = "Paris is the capital of France [1]. Its river is not told."
    result = graphs.ask(QUESTION, "chain", model=writing(told, finalize=unknown), index=river())
    assert (result.answer, result.confidence) == ("Unknown", None)
    assert texts(result) == ["Paris is the capital of France.", "Its river is not told."]
    assert result.sentences[1].supported is None, "what is missing rests on nothing"
    assert len(result.citations) == 1


def test_an_answer_is_not_surer_than_the_weakest_hop_it_rests_on() -> None:
    sure = {"answer": "Seine", "confidence": 0.99, "citations": [1, 2], "settled_by": "agreement"}
    weak = but(finalize=sure, answer={"answer": "Seine", "confidence": 0.4, "citations": [1]})
    result = graphs.ask(QUESTION, "chain", model=weak, index=river())
    assert result.confidence == pytest.approx(0.4)


@pytest.mark.parametrize(("allowed", "asked_for"), [(1, ["answer"]), (2, ["answer", "write"])])
def test_a_budget_goes_to_the_answer_first(allowed: int, asked_for: list[str]) -> None:
    asked = writing()
    result = graphs.ask("Which river runs through Paris?", "naive", model=asked, index=river(), max_calls=allowed)
    assert [name for name, _ in asked.calls] == asked_for
    assert (result.answer, result.quoted, result.stopped_by) == ("Seine", allowed == 1, "finished")


def test_a_text_that_never_came_is_quoted_and_the_answer_stays() -> None:
    asked = FakeModel(replies=lambda prompt, slots: "no JSON" if prompt == "write" else replies(prompt, slots), writes=True)
    result = graphs.ask("Which river runs through Paris?", "naive", model=asked, index=river())
    assert (result.answer, result.quoted, result.stopped_by) == ("Seine", True, "finished")
    assert result.text
    assert any("quoted" in notice for notice in result.notices)


async def test_a_graph_streams_it_as_custom_events_and_as_chunks_of_the_answers_message() -> None:
    graph, settings = graphs.build("naive").compile(), Settings(model=writing(), index=river())
    events = [event async for event in graph.astream({"question": QUESTION}, context=settings, stream_mode=["custom", "messages"])]
    assert [event["text"] for kind, event in events if kind == "custom"][-1] == without_marks(TEXT)
    chunks = [event[0] for kind, event in events if kind == "messages"]
    assert "".join(chunk.text for chunk in chunks) == without_marks(TEXT), "and nothing of the JSON of the calls"
    assert len({chunk.id for chunk in chunks}) == 1


class TestQuoted:
    @pytest.mark.parametrize("strategy", ["naive", "prune", "tor", "chain", "ircot", "self-ask", "react", "iterative"])
    def test_the_embedded_model_quotes_its_sources_word_for_word(self, strategy: str) -> None:
        result = graphs.ask("Which river runs through Paris?", strategy, model="extractive", index=river())
        assert result.quoted
        assert result.sentences
        for sentence in result.sentences:
            sources = [result.citations[number - 1].text for number in sentence.citations]
            assert any(sentence.text in source for source in sources)

    def test_what_is_far_from_the_question_is_not_shown(self) -> None:
        result = graphs.ask("How do I bake sourdough bread?", "naive", model="extractive", index=river())
        assert (result.answer, result.citations, result.text) == ("Unknown", [], "")

    def test_a_language_model_quotes_nothing_for_what_it_does_not_know(self) -> None:
        unknown = but(answer={"answer": "Unknown", "confidence": 0.9, "citations": []})
        result = graphs.ask(HOW, "naive", model=unknown, index=river())
        assert (result.answer, result.citations, result.quoted) == ("Unknown", [], False)

    def test_a_question_that_cannot_be_read_is_refused(self) -> None:
        result = graphs.ask("Welcher Fluss fließt durch Paris, und woher kommt er?", "naive", model="extractive", index=river())
        assert result.answer == "Unknown"
        assert failure_reason(result)
        assert result.text == ""


def test_a_question_all_of_whose_branches_failed_was_not_asked() -> None:
    class Dead(FakeModel):
        async def _agenerate(self, *args: object, **kwargs: object) -> object:  # type: ignore[override]
            raise OSError("the wire was cut")

    result = graphs.ask("Which river runs through Paris?", "prune", model=Dead(replies=lambda prompt, slots: {}), index=river())
    assert (result.answer, result.stopped_by) == ("Unknown", "error")
    assert "the wire was cut" in failure_reason(result)
    nothing = graphs.ask("Which river runs through Paris?", "naive", model=model(), index=InMemoryVectorStore(WordEmbeddings()))
    assert (nothing.stopped_by, failure_reason(nothing)) == ("finished", "")
    assert nothing.explanation.startswith("nothing was found")
