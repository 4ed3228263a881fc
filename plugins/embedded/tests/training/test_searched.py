"""The questions that confidence is fitted on: with the passages a search would bring, right ones where the data has them."""

from pathlib import Path

import pytest

from plugins.embedded.tests.training.samples import write_all
from plugins.embedded.training.calibrate import FOLDERS, PASSAGES, WHOLE_QUESTION_SETS, QuestionCase, Questions
from plugins.embedded.training.example import Part
from plugins.embedded.training.source import load_data_folder

PARTS: tuple[Part, Part] = ("choose", "measure")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("data") / "train")


@pytest.fixture(scope="module")
def questions(data: Path) -> Questions:
    return Questions(data)


@pytest.fixture(scope="module")
def cases(questions: Questions) -> dict[Part, list[QuestionCase]]:
    parts: tuple[Part, ...] = (*PARTS, "train")
    return {part: list(questions.cases(part, 50)) for part in parts}


def test_every_source_is_asked(cases: dict[Part, list[QuestionCase]]) -> None:
    sources = {case.source for some in cases.values() for case in some}
    assert sources >= FOLDERS.keys() - {"nq_oracle_dev_other"}
    assert sources & {f"{name}, whole" for name in WHOLE_QUESTION_SETS}


def test_an_answer_stands_in_a_passage_and_there_are_not_too_many(cases: dict[Part, list[QuestionCase]]) -> None:
    for item in (case for some in cases.values() for case in some):
        assert 1 <= len(item.contexts) <= PASSAGES
        assert len(set(item.contexts)) == len(item.contexts)
        if item.answers and item.answers[0] not in ("yes", "no") and "whole" not in item.source:
            assert any(answer in context for answer in item.answers for context in item.contexts), item


def test_where_there_is_no_answer_the_right_passage_is_not_among_them(data: Path, cases: dict[Part, list[QuestionCase]]) -> None:
    right = {
        f"{item['question'][:1].upper()}{item['question'][1:]}?": item["supporting"][0]["doc_id"]
        for item in load_data_folder(data / "techdocs_faq").questions
    }
    asked = [item for some in cases.values() for item in some if item.source == "techdocs_faq_other"]
    assert asked
    for case in asked:
        assert not case.answers
        assert not any(load_data_folder(data / "techdocs_faq").documents[right[case.question]].text in context for context in case.contexts)


def test_a_whole_question_comes_with_every_hop_unless_it_was_trained_on(data: Path, cases: dict[Part, list[QuestionCase]]) -> None:
    whole = [asked for part in PARTS for asked in cases[part] if asked.source.endswith(", whole")]
    assert not {asked.question for asked in whole} & {asked.question for asked in cases["train"] if asked.source in FOLDERS}
    for case in whole:
        folder = load_data_folder(data / case.source.removesuffix(", whole"))
        (item,) = [item for item in folder.questions if item["question"] == case.question]
        for gold in item["supporting"]:
            assert any(folder.documents[gold["doc_id"]].text in context for context in case.contexts)


def test_few_are_asked_where_few_are_wanted(questions: Questions) -> None:
    sources = [case.source for case in questions.cases("measure", 2)]
    assert max(sources.count(source) for source in sources) <= 2
