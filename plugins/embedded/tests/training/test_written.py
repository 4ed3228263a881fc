"""The questions written by hand, and what is made of them: every one stands in its passage, and the kinds are all there."""

from collections import Counter
from pathlib import Path

import pytest

from plugins.embedded.tests.training.samples import by_hand, write
from plugins.embedded.training.example import Example
from plugins.embedded.training.records import record_examples
from plugins.embedded.training.source import load_data_folder
from plugins.embedded.training.technical import technical_examples
from plugins.embedded.training.written.folder import OFFICE, QUESTIONS, Passages, converted, gathered, read

KINDS = {"span", "number", "name", "command", "field", "yes", "no", "none", "two_hop", "how_to", "list"}


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    folder = write(tmp_path_factory.mktemp("data") / "office_spans", *by_hand("bex"))
    return list(technical_examples(load_data_folder(folder)))


def test_two_thousand_questions_of_all_kinds_are_here() -> None:
    asked = list(read(QUESTIONS))
    assert len(asked) >= 2000
    assert len({line["question"] for line in asked}) == len(asked)
    assert {line["kind"] for line in asked} == KINDS


def test_every_question_about_an_invented_document_stands_in_it() -> None:
    passages = Passages(read(OFFICE))
    about = [line for line in read(QUESTIONS) if line["passages"][0] in passages.by_id]
    assert len(about) > 500
    assert [line["question"] for line in about if converted(line, passages) is None] == []


def test_a_question_whose_passage_is_not_there_is_left_out_and_counted() -> None:
    line = {"kind": "none", "question": "What does the pump weigh?", "passages": ["nowhere-1"]}
    made, left_out = gathered([line], Passages([]))
    assert (len(made.questions), left_out) == (0, 1)


def test_an_answer_is_found_across_a_line_break() -> None:
    passage = {"id": "p-1", "title": "Pump", "text": "It weighs ninety\n   four kilograms.", "source": "office"}
    about = {"question": "What does the pump weigh?", "passages": ["p-1"]}
    line = {**about, "kind": "number", "answer": "ninety four kilograms", "quote": "It weighs ninety four kilograms."}
    question = converted(line, Passages([passage]))
    assert question is not None
    [answer] = question["answers"]
    assert passage["text"][answer["start"] :].startswith(answer["text"])
    assert answer["text"] == "ninety\n   four kilograms"


@pytest.mark.parametrize(
    ("source", "kind"),
    [("span", "span"), ("yes", "yes"), ("none", "none"), ("step", "span"), ("how_to", ""), ("step_whole", "none")],
)
def test_each_kind_of_question_becomes_an_example(examples: list[Example], source: str, kind: str) -> None:
    assert kind in {example.kind for example in examples if example.source == f"office_spans_{source}"}


def test_spans_are_the_answers_and_other_passages_hold_none(examples: list[Example]) -> None:
    spans = [example for example in examples if example.kind == "span"]
    assert {example.context[slice(*example.spans[0])] for example in spans} == {"4711", "9000"}
    others = [example for example in examples if example.source.endswith("_other") and example.kind == "none"]
    assert others
    assert all(example.bears is False for example in others)


def test_a_third_of_the_records_lack_what_is_asked_and_the_rest_hold_it_whole() -> None:
    made = list(record_examples(600))
    kinds = Counter(example.kind for example in made)
    assert 0.25 < kinds["none"] / len(made) < 0.42
    for example in made:
        for start, end in example.spans:
            assert example.context[start:end].strip() == example.context[start:end] != ""
            assert "\n" not in example.context[start:end]
            assert "|" not in example.context[start:end]
    assert made == list(record_examples(600))


def test_the_invented_documents_name_their_source() -> None:
    assert {line["source"] for line in read(OFFICE)} == {"office"}
    assert Path(OFFICE).stat().st_size < 200_000


def test_a_passage_of_another_cut_is_found_by_its_words() -> None:
    passage = {"id": "base/other-1", "title": "pump.1", "text": "The pump runs\nat 40 Hz by default.", "source": "base"}
    about = {"question": "At what frequency does pump run?", "passages": ["base-pump.1-000"], "begins": ["The pump runs at"]}
    line = {**about, "kind": "number", "answer": "40 Hz", "quote": "The pump runs at 40 Hz by default."}
    question = converted(line, Passages([passage]))
    assert question is not None
    assert question["supporting"][0]["doc_id"] == "base/other-1"
