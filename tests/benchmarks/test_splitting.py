"""What the benchmark of splits fills in, deals out and counts."""

import gzip
import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # benchmarks/ is not installed

from benchmarks.splits.asked import model
from benchmarks.splits.flatten import filled, flattened
from benchmarks.splits.hops import Asked, Hop, answer_to, musique_question, wiki_question
from benchmarks.splits.kept_out import figures, words_f1
from benchmarks.splits.searched import Words, dealt, found
from benchmarks.splits.systems import dump, in_file, official
from benchmarks.splitting import OFFICIAL, WHOLE, measure, systems
from ramify.tools.arithmetic.combinations import How
from ramify.tools.errors import InputError
from ramify.tools.splitting import Split
from tests.fakes import FakeModel
from training.source import Document, Folder
from training.writing.written import Written

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


def told(question: str) -> str:
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
    assert told(asked) == answer


def test_halves_are_split_again_with_the_answer_in_them_and_numbered() -> None:
    steps = flattened(QUESTION, SPLITS.get, told)
    assert steps == STEPS
    assert filled(steps, told) == ["Who is the director of Tidewater?", "Who is the father of Ann Lee?", "Where did Bo Lee die?"]


def test_a_filled_half_is_split_again() -> None:
    splits = {
        QUESTION: ("Who is the director of Tidewater?", "Where did the father of {1} die?"),
        "Where did the father of Ann Lee die?": ("Who is the father of Ann Lee?", "Where did {1} die?"),
    }
    assert flattened(QUESTION, splits.get, told) == STEPS


def test_no_deeper_than_told() -> None:
    assert flattened(QUESTION, SPLITS.get, told, depth=1) == (FATHER, "Where did {1} die?")
    assert flattened(QUESTION, lambda question: (question + "?", question + "!"), told) == tuple(
        QUESTION + a + b + c for a in "?!" for b in "?!" for c in "?!"
    )


def test_a_half_that_is_the_question_is_no_split() -> None:
    assert flattened(QUESTION, lambda question: (question, "When?"), told) == (QUESTION,)


def test_a_hole_without_an_answer_is_neither_split_nor_searched_for() -> None:
    splits = {QUESTION: ("Which colour has grass?", "Where did {1} die?"), "Where did {1} die?": ("Who?", "Where?")}
    steps = flattened(QUESTION, splits.get, told)
    assert steps == ("Which colour has grass?", "Where did {1} die?")
    assert filled(steps, told) == ["Which colour has grass?", "Where did  die?"]
    assert filled(["Where did {3} die?", "Where did {0} die?"], told) == ["Where did  die?"] * 2


def musique_item() -> dict[str, Any]:
    steps = [{"question": hop.question, "answer": hop.answer} for hop in HOPS]
    return {"question": QUESTION, "decomposition": {"steps": steps}, "supporting": [{"doc_id": key} for key in "abc"]}


def test_official_hops_are_filled_with_their_own_answers() -> None:
    asked = musique_question(musique_item())
    assert asked == Asked(QUESTION, HOPS, frozenset("abc"))
    assert filled(official(asked), told) == ["Tidewater >> director", "Ann Lee >> father", "Where did Bo Lee die?"]


def wiki(kind: str, ids: str, evidences: list[list[str]] | None = None) -> Asked:
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


def test_passages_are_dealt_in_turn_each_once() -> None:
    assert dealt(["abcd", "ax", ""], 4) == ["a", "b", "x", "c"]


def test_the_word_search_finds_what_the_steps_ask_for(tmp_path: Path) -> None:
    words = Words([Document(key, title, text) for key, (title, text) in PARAGRAPHS.items()], tmp_path / "words.sqlite")
    gold = frozenset("abc")
    assert words.search("Tidewater", 5) == ["a"]
    assert found(words, ["Who is the director of Tidewater?"], gold, 5) < 1
    assert found(words, ["Tidewater", "Ann Lee", "Bo Lee"], gold, 3) == 1


def test_a_file_of_splits_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "splits.jsonl"
    dump([(QUESTION, STEPS), (QUESTION, STEPS)], file)
    assert json.loads(file.read_text()) == {"question": QUESTION, "steps": list(STEPS)}
    system = in_file(file)
    assert system(Asked(QUESTION, HOPS, frozenset("abc"))) == STEPS
    assert system(Asked("Why?", (), frozenset("a"))) == ("Why?",)


def test_a_line_that_is_no_split_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "splits.jsonl"
    file.write_text('{"question": "Why?"}\n')
    with pytest.raises(InputError, match=r"line 1 of .*: .*Why.* — write"):
        in_file(file)


def test_the_table_has_a_row_for_each_set_and_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wiki_item = {**musique_item(), "type": "compositional", "decomposition": None, "supporting": [{"doc_id": "a"}, {"doc_id": "b"}]}
    evidences = [["Tidewater", "director", "Ann Lee"], ["Ann Lee", "father", "Bo Lee"]]
    items = {"musique": [musique_item()], "2wikimultihopqa": [{**wiki_item, "evidences": evidences}, {**wiki_item, "question": "Why?"}]}
    for name, questions in items.items():
        corpus = [{"id": key, "title": title, "text": text} for key, (title, text) in PARAGRAPHS.items()]
        (tmp_path / name).mkdir()
        for file, lines in (("corpus", corpus), ("questions", questions)):
            with gzip.open(tmp_path / name / f"{file}.jsonl.gz", "wt", encoding="utf-8") as out:
                out.writelines(json.dumps(line) + "\n" for line in lines)
    dump([(QUESTION, STEPS)], tmp_path / "one.jsonl")
    dump([(QUESTION, STEPS)], tmp_path / "other.jsonl")
    named = systems(Namespace(splits=[tmp_path / "one.jsonl", tmp_path / "other.jsonl"], model=[], splitter=False))
    assert {(QUESTION, STEPS), ("Why?", ("Why?",))} == set(measure(named, tmp_path, 10))
    cells = [line.split(" | ") for line in capsys.readouterr().out.splitlines()]
    rows = {(line[0].strip("| "), line[2]): line[3:] for line in cells if len(line) > 3}
    assert rows["musique", OFFICIAL][:2] == rows["musique", "one"][:2] == ["3.00", "100.0 (100.0 to 100.0)"]
    assert rows["musique", WHOLE][0] == "1.00"
    assert ("2wikimultihopqa with evidences", OFFICIAL) in rows
    assert ("2wikimultihopqa", OFFICIAL) not in rows
    assert ["musique, other − one: All@5 +0.0, p = 1.000"] in cells


def test_a_language_model_is_asked_by_the_prompt_of_the_toolkit() -> None:
    def reply(prompt: str, slots: Mapping[str, Any]) -> dict[str, Any] | str:
        if slots["question"] == "Why?":
            return "no JSON"
        first, second = SPLITS.get(slots["question"], ("", ""))
        return {"thought": "", "simple": not first, "first": first, "second": second.replace("{1}", "#1")}

    halves = model(FakeModel(replies=reply))
    assert flattened(QUESTION, halves, told) == STEPS
    assert halves("Why?") is None
    assert halves("Who is Ann Lee?") is None


@pytest.mark.parametrize(
    ("how", "first", "second", "expected"),
    [
        ("bridge", "Who directed Tidewater?", "Where did {1} die?", "100.0 | – | 100.0 | 1 | 100.0 | 100.0"),
        ("agree", "Who directed Tidewater?", "Where did {1} die?", "100.0 | – | 100.0 | 1 | 0.0 | 100.0"),
        ("bridge", "Where did {1} die?", "Who directed Tidewater?", "100.0 | – | 100.0 | 1 | 100.0 | 0.0"),
        ("single", "", "", "0.0 | – | 0.0 | 1 | 0.0 | 0.0"),
    ],
)
def test_a_split_is_compared_with_the_one_kept_out(how: How, first: str, second: str, expected: str) -> None:
    gold = Written("", "", QUESTION, "", "bridge", ("Who directed Tidewater?", "Where did {1} die?"))
    assert figures([(gold, Split(how, first, second, 1.0))]) == expected


def test_halves_side_by_side_may_change_places() -> None:
    gold = Written("", "", "?", "", "both", ("Is A old?", "Is B new?"))
    assert words_f1(gold, Split("both", "Is B new?", "Is A old?", 1.0)) == 1
