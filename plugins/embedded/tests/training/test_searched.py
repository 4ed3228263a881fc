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
def found(questions: Questions) -> dict[Part, list[QuestionCase]]:
    parts: tuple[Part, ...] = (*PARTS, "train")
    return {part: list(questions.cases(part, 50)) for part in parts}


def test_every_source_is_asked(found: dict[Part, list[QuestionCase]]) -> None:
    sources = {one.source for some in found.values() for one in some}
    assert sources >= FOLDERS.keys() - {"nq_oracle_dev_other"}
    assert sources & {f"{name}, whole" for name in WHOLE_QUESTION_SETS}


def test_an_answer_stands_in_a_passage_and_there_are_not_too_many(found: dict[Part, list[QuestionCase]]) -> None:
    for one in (one for some in found.values() for one in some):
        assert 1 <= len(one.contexts) <= PASSAGES
        assert len(set(one.contexts)) == len(one.contexts)
        if one.answers and one.answers[0] not in ("yes", "no") and "whole" not in one.source:
            assert any(answer in context for answer in one.answers for context in one.contexts), one


def test_where_there_is_no_answer_the_right_passage_is_not_among_them(data: Path, found: dict[Part, list[QuestionCase]]) -> None:
    right = {
        f"{item['question'][:1].upper()}{item['question'][1:]}?": item["supporting"][0]["doc_id"]
        for item in load_data_folder(data / "techdocs_faq").questions
    }
    asked = [one for some in found.values() for one in some if one.source == "techdocs_faq_other"]
    assert asked
    for one in asked:
        assert not one.answers
        assert not any(load_data_folder(data / "techdocs_faq").documents[right[one.question]].text in context for context in one.contexts)


def test_a_whole_question_comes_with_every_hop_unless_it_was_trained_on(data: Path, found: dict[Part, list[QuestionCase]]) -> None:
    whole = [one for part in PARTS for one in found[part] if one.source.endswith(", whole")]
    assert not {one.question for one in whole} & {one.question for one in found["train"] if one.source in FOLDERS}
    for one in whole:
        folder = load_data_folder(data / one.source.removesuffix(", whole"))
        (item,) = [item for item in folder.questions if item["question"] == one.question]
        for gold in item["supporting"]:
            assert any(folder.documents[gold["doc_id"]].text in context for context in one.contexts)


def test_few_are_asked_where_few_are_wanted(questions: Questions) -> None:
    sources = [one.source for one in questions.cases("measure", 2)]
    assert max(sources.count(source) for source in sources) <= 2
