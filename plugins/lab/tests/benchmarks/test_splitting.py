"""How the benchmark of splits fills in answers, distributes passages and counts."""

import sys
from pathlib import Path
from typing import Any

import pytest

from plugins.embedded.training.source import Document, Folder
from plugins.lab.benchmarks.splits.flatten import fill_answers, flatten
from plugins.lab.benchmarks.splits.hops import Hop, HopQuestion, answer_to, musique_question, wiki_question
from plugins.lab.benchmarks.splits.systems import official_split

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

HOPS = (Hop("Tidewater >> director", "Ann Lee"), Hop("#1 >> father", "Bo Lee"), Hop("Where did #2 die?", "Oslo"))


QUESTION = "Where did the father of the director of Tidewater die?"


FATHER = "Who is the father of the director of Tidewater?"


SPLITS = {
    QUESTION: (FATHER, "Where did {1} die?"),
    FATHER: ("Who is the director of Tidewater?", "Who is the father of {1}?"),
}


STEPS = ("Who is the director of Tidewater?", "Who is the father of {1}?", "Where did {2} die?")


PARAGRAPHS = {
    "a": ("Tidewater", "A film of 1950."),
    "b": ("Ann Lee", "She directed films. Her father was a sailor."),
    "c": ("Bo Lee", "He died in Oslo."),
    "d": ("Oslo", "The harbour."),
}


def split_of(question: str) -> str:
    return answer_to(question, HOPS)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Who is the director of Tidewater?", "Ann Lee"),
        ("Who is the father of Ann Lee?", "Bo Lee"),
        (FATHER, "Bo Lee"),
        ("Where did Bo Lee die?", ""),
        (QUESTION, ""),
        ("Which colour has grass?", ""),
    ],
)
def test_a_sub_question_has_the_answer_of_its_hop_and_none_the_final_one(asked: str, answer: str) -> None:
    assert split_of(asked) == answer


def test_halves_are_split_again_with_the_answer_in_them_and_numbered() -> None:
    steps = flatten(QUESTION, SPLITS.get, split_of)
    assert steps == STEPS
    assert fill_answers(steps, split_of) == ["Who is the director of Tidewater?", "Who is the father of Ann Lee?", "Where did Bo Lee die?"]


def test_a_filled_half_is_split_again() -> None:
    splits = {
        QUESTION: ("Who is the director of Tidewater?", "Where did the father of {1} die?"),
        "Where did the father of Ann Lee die?": ("Who is the father of Ann Lee?", "Where did {1} die?"),
    }
    assert flatten(QUESTION, splits.get, split_of) == STEPS


def test_no_deeper_than_the_limit() -> None:
    assert flatten(QUESTION, SPLITS.get, split_of, depth=1) == (FATHER, "Where did {1} die?")
    assert flatten(QUESTION, lambda question: (question + "?", question + "!"), split_of) == tuple(
        QUESTION + a + b + c for a in "?!" for b in "?!" for c in "?!"
    )


def test_a_half_that_is_the_question_is_no_split() -> None:
    assert flatten(QUESTION, lambda question: (question, "When?"), split_of) == (QUESTION,)


def test_a_hole_without_an_answer_is_neither_split_nor_searched_for() -> None:
    splits = {QUESTION: ("Which colour has grass?", "Where did {1} die?"), "Where did {1} die?": ("Who?", "Where?")}
    steps = flatten(QUESTION, splits.get, split_of)
    assert steps == ("Which colour has grass?", "Where did {1} die?")
    assert fill_answers(steps, split_of) == ["Which colour has grass?", "Where did  die?"]
    assert fill_answers(["Where did {3} die?", "Where did {0} die?"], split_of) == ["Where did  die?"] * 2


def musique_item() -> dict[str, Any]:
    steps = [{"question": hop.question, "answer": hop.answer} for hop in HOPS]
    return {"question": QUESTION, "decomposition": {"steps": steps}, "supporting": [{"doc_id": key} for key in "abc"]}


def test_official_hops_are_filled_with_their_own_answers() -> None:
    asked = musique_question(musique_item())
    assert asked == HopQuestion(QUESTION, HOPS, frozenset("abc"))
    assert fill_answers(official_split(asked), split_of) == ["Tidewater >> director", "Ann Lee >> father", "Where did Bo Lee die?"]


def wiki(kind: str, ids: str, evidences: list[list[str]] | None = None) -> HopQuestion:
    documents = {key: Document(key, title, text) for key, (title, text) in PARAGRAPHS.items()} | {"f": Document("f", "Reed (film)", "")}
    item = {"question": "?", "type": kind, "evidences": evidences, "supporting": [{"doc_id": key} for key in ids]}
    return wiki_question(Folder("2wiki", documents, []), item)


def test_hops_of_2wikimultihopqa_are_its_evidences_in_chains_by_type() -> None:
    evidences = [
        ["Tidewater", "director", "Ann Lee"],
        ["Reed", "director", "B. Lee"],
        ["Ann Lee", "born", "1900"],
        ["Bo Lee", "born", "1901"],
    ]
    hops = wiki("bridge_comparison", "afbc", evidences).hops
    assert [hop.question for hop in hops] == ["Tidewater director", "Reed director", "#1 born", "#2 born"]
    assert answer_to("Who is the director of Reed?", hops) == "B. Lee"
    assert answer_to("Who is the director of Reed?", wiki("comparison", "af", evidences[:2]).hops) == ""


def test_hops_without_evidences_are_known_by_titles() -> None:
    asked = wiki("compositional", "af")
    assert asked.hops == (Hop("Tidewater", "Reed"), Hop("#1", ""))
    assert not asked.official
    assert answer_to("Who is the hero of Reed?", wiki("compositional", "fa").hops) == "Tidewater"
