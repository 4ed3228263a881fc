"""What a reader is told of the sentences of a text: which passage says each, and which none says."""

from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

import ramify.graphs as graphs
from ramify.graphs.run import Result
from tests.embeddings import WordEmbeddings
from tests.fakes import FakeModel

WINDOWS = "Emil Rossi restored the windows of the minster. Emil Rossi died on 5 June 2000. He was born in Basel."
ROOF = "Robert Hale restored the roof of the minster. Robert Hale died on 18 December 1999. He played the oboe."
QUESTION = "Who lived longer, Emil Rossi or Robert Hale, who restored the minster?"
COPY = (
    "The mill of Tarn was built by Edda Rask. It stands on the Oskel and has four wheels. Its owner kept geese and two brown goats. "
    "The roof is of slate from the quarry. In winter the river freezes over for weeks. It opened in 1852 after a long delay."
)


def ask(question: str, answer: str, text: str, passages: tuple[str, ...], **settings: Any) -> Result:
    """Answer a question with a text about passages."""

    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt == "write":
            return {"text": text}
        return {"answer": answer, "confidence": 0.9, "citations": list(range(1, len(slots["passages"]) + 1))}

    index = InMemoryVectorStore(WordEmbeddings())
    index.add_texts(list(passages))
    return graphs.ask(question, "naive", model=FakeModel(replies=reply, writes=True), index=index, **settings)


def verdicts(result: Result) -> list[bool | None]:
    return [sentence.supported for sentence in result.sentences]


def cited(result: Result, number: int) -> list[str]:
    """List the texts that a sentence cites."""
    return [result.citations[place - 1].text for place in result.sentences[number].citations]


def test_conclusions_are_not_marked_and_the_date_of_another_is() -> None:
    text = "Emil Rossi died on 5 June 2000. Robert Hale died on 5 June 2000. So Rossi lived longer."
    result = ask(QUESTION, "Emil Rossi", text, (WINDOWS, ROOF))
    assert verdicts(result)[:2] == [True, False]
    assert verdicts(result)[2] is not False


@pytest.mark.parametrize("mark", ["", " [1]", " [2]"])
def test_a_sentence_cites_the_passage_that_says_it(mark: str) -> None:
    result = ask(QUESTION, "Emil Rossi", f"Rossi died on 5 June 2000 [1][2]. Robert Hale restored the roof{mark}.", (WINDOWS, ROOF))
    assert verdicts(result) == [True, True]
    assert ROOF in cited(result, 1)
    assert result.text.count("[") == sum(len(one.citations) for one in result.sentences), "the text has the numbers, too"


def test_text_and_sentences_agree_if_the_model_did_not_check_them() -> None:
    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any] | str:
        if prompt == "check":
            return "no JSON"
        if prompt == "write":
            return {"text": "Emil Rossi died on 5 June 2000 [1]. Robert Hale restored the roof of the minster."}
        return {"answer": "5 June 2000", "confidence": 0.9, "citations": [1]}

    index = InMemoryVectorStore(WordEmbeddings())
    index.add_texts([WINDOWS, ROOF])
    result = graphs.ask("When did Emil Rossi die?", "naive", model=FakeModel(replies=reply, writes=True), index=index, check="model")
    assert verdicts(result) == [None, None]
    assert result.text.count("[") == sum(len(one.citations) for one in result.sentences) > 1


def test_a_passage_that_was_shown_and_not_cited_becomes_a_citation() -> None:
    def reply(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt == "write":
            return {"text": "Emil Rossi died on 5 June 2000 [1]. Robert Hale restored the roof of the minster."}
        first = next(number for number, passage in enumerate(slots["passages"], 1) if "windows" in passage["text"])
        return {"answer": "5 June 2000", "confidence": 0.9, "citations": [first]}

    index = InMemoryVectorStore(WordEmbeddings())
    index.add_texts([WINDOWS, ROOF])
    result = graphs.ask("When did Emil Rossi die?", "naive", model=FakeModel(replies=reply, writes=True), index=index)
    assert (verdicts(result), cited(result, 1)) == ([True, True], [ROOF])
    assert [one.cited for one in result.citations] == [True, True]


def test_of_a_copied_passage_only_what_bears_on_the_question_is_shown() -> None:
    result = ask("When was the mill of Tarn opened?", "1852", COPY, (COPY,), passage_tokens=300)
    assert "opened in 1852" in result.text
    assert not any(word in result.text for word in ("geese", "slate", "freezes"))
    assert len(result.sentences) == result.text.count("."), "sentences and text are the same"


def test_what_is_told_of_the_passages_themselves_is_not_shown() -> None:
    said = "This is the first line of the passage. Robert Hale restored it, says passage 2. The mill opened in 1852."
    assert ask("When was the mill of Tarn opened?", "1852", said, (COPY,)).text.startswith("The mill opened in 1852")
    assert len(ask("Which passage tells of the mill of Tarn?", "1852", said, (COPY,)).sentences) == 3


def test_what_a_model_writes_itself_is_kept() -> None:
    text = "The mill opened in 1852. Nobody expected that. The delay was long."
    assert len(ask("When was the mill of Tarn opened?", "1852", text, (COPY,)).sentences) == 3


def test_a_sentence_of_a_text_without_marks_cites_what_says_it_alone() -> None:
    result = ask(QUESTION, "Emil Rossi", "Emil Rossi died on 5 June 2000. Robert Hale restored the roof.", (WINDOWS, ROOF))
    assert [cited(result, place) for place in (0, 1)] == [[WINDOWS], [ROOF]]
