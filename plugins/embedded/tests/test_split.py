"""Split first: the embedded writer splits, a language model reads each part, arithmetic combines."""

from collections.abc import Mapping
from typing import Any

import pytest

import ramify.graphs as graphs
from ramify.nodes.asking.ask import answerer_class
from ramify.tools import plugins
from ramify.tools.errors import ModelError
from tests.fakes import FakeModel, library
from tests.tools.ollama_replies import Say
from tests.tools.ollama_server import Ollama, ollama

__all__ = ["ollama"]

BORN = "Where was the designer of Hollin Bridge born?"
OLDER = "Who is older, Ann Rask or Bo Lind?"
TEXTS = (
    "Hollin Bridge was designed by Edda Rask.",
    "Edda Rask was born in Tarnholm.",
    "Ann Rask was born in 1901.",
    "Bo Lind was born in 1894.",
)
KNOWN = {
    "Who is the designer of Hollin Bridge?": "Edda Rask",
    "Where was Edda Rask born?": "Tarnholm",
    "When was Ann Rask born?": "1901",
    "When was Bo Lind born?": "1894",
}


def reader(known: Mapping[str, str] = KNOWN, **others: Any) -> FakeModel:
    """Make a model that answers these questions from passages, others with Unknown."""

    def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt in others:
            return dict(others[prompt])
        assert prompt == "answer", f"asked to {prompt}"
        return {"answer": known.get(slots["question"], "Unknown"), "confidence": 0.9, "citations": [1]}

    return FakeModel(replies=replies, logprobs=True)


def test_each_part_of_a_bridge_is_read_in_one_call_and_the_last_answers() -> None:
    model = reader()
    result = graphs.ask(BORN, "split", model=model, index=library(*TEXTS))
    assert result.answer == "Tarnholm"
    assert [slots["question"] for slots in model.asked("answer")] == list(KNOWN)[:2]
    assert result.usage.llm_calls == 2
    assert result.confidence == pytest.approx(0.81)
    assert {citation.text for citation in result.citations} == set(TEXTS[:2])


def test_a_comparison_is_settled_by_arithmetic() -> None:
    model = reader()
    result = graphs.ask(OLDER, "split", model=model, index=library(*TEXTS))
    assert result.answer == "Bo Lind"
    assert len(model.calls) == 2
    assert {citation.text for citation in result.citations} == set(TEXTS[2:])


def test_two_questions_in_one_sentence_are_both_answered() -> None:
    both = "Who directed Bullitt and who directed Solaris?"
    model = reader({"Who directed Bullitt?": "Peter Yates", "Who directed Solaris?": "Andrei Tarkovsky"})
    texts = ("Bullitt was directed by Peter Yates.", "Solaris was directed by Andrei Tarkovsky.")
    result = graphs.ask(both, "split", model=model, index=library(*texts))
    assert result.answer == "Peter Yates; Andrei Tarkovsky"
    assert {citation.text for citation in result.citations} == set(texts)


def test_a_question_whose_parts_settle_nothing_is_searched_and_read_itself() -> None:
    model = reader({OLDER: "Bo Lind"})
    result = graphs.ask(OLDER, "split", model=model, index=library(*TEXTS))
    assert result.answer == "Bo Lind"
    assert [slots["question"] for slots in model.asked("answer")][-1] == OLDER
    assert "do not settle" in result.tree["0"].note


def test_a_second_hop_is_not_asked_where_the_first_has_no_answer() -> None:
    model = reader({BORN: "Tarnholm"})
    result = graphs.ask(BORN, "split", model=model, index=library(*TEXTS))
    assert result.answer == "Tarnholm"
    assert [slots["question"] for slots in model.asked("answer")] == [next(iter(KNOWN)), BORN]
    assert result.tree["0.1"].status == "pruned"


@pytest.mark.parametrize(("parameters", "answer"), [(1_540_000_000, "Unknown"), (8_030_000_000, "Edda Rask")])
def test_an_answer_of_a_small_model_that_only_repeats_the_first_hop_s_is_none(ollama: Ollama, parameters: int, answer: str) -> None:
    ollama.parameters = parameters
    ollama.when("", Say('{"answer": "Edda Rask", "confidence": 0.9, "citations": [1]}'))
    result = graphs.ask(BORN, "split", model="ollama:llama3.1:8b", index=library(*TEXTS))
    assert result.answer == answer
    assert ("repeats the answer of 0.0" in result.tree["0.1"].note) is (answer == "Unknown")
    assert result.tree["0.1"].answer == answer


def test_a_split_whose_first_part_only_rephrases_the_question_is_that_of_the_part() -> None:
    asked = "Who is Ann Rask's paternal grandfather?"
    result = graphs.ask(asked, "split", model=reader({"Who is the father of Ann Rask?": "Ole Rask"}), index=library(*TEXTS))
    assert [result.tree[path].question for path in ("0.0", "0.1")] == ["Who is the father of Ann Rask?", "Who is the father of Ole Rask?"]


def test_a_first_part_that_says_a_word_once_does_not_rephrase_a_question_that_says_it_twice() -> None:
    asked = "Who is the director of the film that the director of Ronnie Rocket acted in?"
    known = {"Who is the director of Ronnie Rocket?": "Ann Rask", "What is the film that Ann Rask acted in?": "Vane"}
    result = graphs.ask(asked, "split", model=reader({**known, "Who is the director of Vane?": "Bo Lind"}), index=library(*TEXTS))
    assert result.answer == "Bo Lind"


def test_the_parts_have_the_names_of_the_question_whole() -> None:
    asked = "Are the movies On A Clear Day You Can See Forever (Film) and Education Of A Prince, from the same country?"
    result = graphs.ask(asked, "split", model=reader(), index=library(*TEXTS))
    assert "On A Clear Day You Can See Forever" in result.tree["0.0"].question
    assert "Education Of A Prince" in result.tree["0.1"].question


@pytest.mark.parametrize(("parameters", "strategy"), [(1_540_000_000, "split"), (8_030_000_000, "prune"), (None, "prune")])
def test_without_a_named_strategy_a_small_model_reads_what_the_writer_splits(ollama: Ollama, parameters: int | None, strategy: str) -> None:
    ollama.parameters = parameters
    assert graphs.choose_strategy({"model": "ollama:llama3.1:8b"}) == strategy
    assert graphs.choose_strategy({"model": "ollama:llama3.1:8b", "joint": False}) == "prune", "which split does not have"


def test_a_question_that_the_writer_does_not_split_is_read_at_once() -> None:
    asked = "When was Ann Rask born?"
    result = graphs.ask(asked, "split", model=reader(), index=library(*TEXTS))
    assert (result.answer, result.usage.llm_calls, list(result.tree)) == ("1901", 1, ["0"])


def splitter(asked: str, parts: tuple[str, str], known: Mapping[str, str]) -> FakeModel:
    """Make a model that splits one question in two, and answers these and others."""

    def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt == "decompose":
            first, second = parts if slots["question"] == asked else ("", "")
            return {"simple": not first, "first": first, "second": second}
        return {"answer": known.get(slots["question"], "Ann"), "confidence": 0.9, "citations": [1]}

    return FakeModel(replies=replies, logprobs=True)


def test_with_both_the_model_splits_what_the_writer_does_not() -> None:
    asked, parts = "Whose bridge stands where Edda lived?", ("When was Ann Rask born?", "When was Bo Lind born?")
    result = graphs.ask(asked, "split", model=splitter(asked, parts, KNOWN), index=library(*TEXTS), splitter="both")
    assert [branch.question for branch in result.tree.values()][1:] == list(parts)
    assert result.answer == "Ann", "no arithmetic says how these answers combine"


def test_the_model_splits_a_question_that_the_writer_cannot_read() -> None:
    asked, filled = "에다 라스크가 설계한 다리는 언제 개통되었습니까?", "홀린 다리은 언제 개통되었습니까?"
    parts = ("에다 라스크는 무엇을 설계했습니까?", "{1}은 언제 개통되었습니까?")
    model = splitter(asked, parts, {parts[0]: "홀린 다리", filled: "1852"})
    result = graphs.ask(asked, "split", model=model, index=library(*TEXTS))
    assert (result.answer, result.tree["0.1"].question) == ("1852", filled)


@pytest.mark.parametrize("strategy", ["tor", "prune"])
def test_other_strategies_split_by_the_writer_where_that_is_set(strategy: str) -> None:
    arguments = {"joint": False, "entities": False, "tau": 1.0} if strategy == "prune" else {"judged": False, "search_root": False}
    model = reader(finalize={"answer": "Tarnholm", "confidence": 0.9, "citations": [1], "settled_by": "agreement"})
    result = graphs.ask(BORN, strategy, model=model, index=library(*TEXTS), splitter="embedded", style="short", **arguments)
    assert [branch.question for branch in result.tree.values()][1:3] == list(KNOWN)[:2]
    assert not model.asked("decompose")


def test_the_sentences_of_its_answer_are_those_of_the_sources() -> None:
    result = graphs.ask(BORN, "split", model=reader(), index=library(*TEXTS))
    assert [sentence.text for sentence in result.sentences] == list(TEXTS[:2])
    assert [sentence.citations for sentence in result.sentences] == [(1,), (2,)]
    assert result.quoted


def test_without_the_embedded_model_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "names", lambda group: [])
    answerer_class.cache_clear()
    with pytest.raises(ModelError, match="extractive") as raised:
        graphs.ask(BORN, "split", model=reader(), index=library(*TEXTS))
    answerer_class.cache_clear()
    assert "splitter=model" in raised.value.remedy


@pytest.mark.parametrize(("parameters", "calls"), [(1_540_000_000, 1), (8_030_000_000, 2)])
def test_the_text_of_a_small_model_is_quoted_and_not_written(ollama: Ollama, parameters: int, calls: int) -> None:
    ollama.parameters = parameters
    ollama.when("Write the answer", Say('{"text": "She was born in 1901 [1]."}'))
    ollama.when("", Say('{"answer": "1901", "confidence": 0.9, "citations": [1]}'))
    result = graphs.ask("When was Ann Rask born?", "naive", model="ollama:llama3.1:8b", index=library(*TEXTS))
    assert (result.answer, result.usage.llm_calls) == ("1901", calls)
    assert [sentence.text for sentence in result.sentences] == ["Ann Rask was born in 1901." if calls == 1 else "She was born in 1901."]


def test_a_chain_asks_what_the_writer_splits_and_concludes_by_arithmetic() -> None:
    model = reader()
    result = graphs.ask(BORN, "chain", model=model, index=library(*TEXTS), splitter="embedded", style="short")
    assert [branch.question for branch in result.tree.values()][1:] == list(KNOWN)[:2]
    assert (result.answer, result.usage.llm_calls) == (KNOWN[list(KNOWN)[1]], 2), "each part is read; nothing else is asked of the model"
    assert not model.asked("next_question")


def test_a_chain_asks_the_model_what_the_writer_does_not_split() -> None:
    single, other = "When was Ann Rask born?", "When did Ann Rask come into the world?"
    model = reader(next_question={"done": False, "question": other}, finalize={"answer": "1901", "confidence": 0.9})
    result = graphs.ask(single, "chain", model=model, index=library(*TEXTS), splitter="both", style="short")
    assert result.tree["0.0"].question == other
    assert model.asked("next_question")


@pytest.mark.parametrize("strategy", ["tor", "prune"])
def test_a_bridge_that_the_papers_settings_do_not_split_is_reported_with_what_to_do(strategy: str) -> None:
    def notices(question: str, **options: Any) -> list[str]:
        result = graphs.ask(question, strategy, model="extractive", index=library(*TEXTS), preset="paper", **options)
        return [notice for notice in result.notices if "dependent=true" in notice]

    [notice] = notices(BORN)
    assert BORN in notice
    assert not notices(OLDER)
    assert not notices(BORN, dependent=True)
