"""Measures of splits: what a search finds with them, and the table."""

import gzip
import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plugins.embedded.training.source import Document
from plugins.embedded.training.writing.written import Written
from plugins.lab.benchmarks.splits.asked import prompted_splitter
from plugins.lab.benchmarks.splits.flatten import flatten
from plugins.lab.benchmarks.splits.hops import HopQuestion
from plugins.lab.benchmarks.splits.kept_out import figures, words_f1
from plugins.lab.benchmarks.splits.searched import WordSearch, gold_share, interleave
from plugins.lab.benchmarks.splits.systems import dump, split_from_file
from plugins.lab.benchmarks.splitting import OFFICIAL, WHOLE, measure, systems
from plugins.lab.tests.benchmarks.test_splitting import HOPS, PARAGRAPHS, QUESTION, SPLITS, STEPS, musique_item, split_of
from ramify.embedded.arithmetic import Combination
from ramify.embedded.splitting import Split
from ramify.tools.errors import InputError
from tests.fakes import FakeModel

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed


def test_passages_are_dealt_in_turn_each_once() -> None:
    assert interleave(["abcd", "ax", ""], 4) == ["a", "b", "x", "c"]


def test_the_word_search_finds_what_the_steps_ask_for(tmp_path: Path) -> None:
    words = WordSearch([Document(key, title, text) for key, (title, text) in PARAGRAPHS.items()], tmp_path / "words.sqlite")
    gold = frozenset("abc")
    assert words.search("Tidewater", 5) == ["a"]
    assert gold_share(words, ["Who is the director of Tidewater?"], gold, 5) < 1
    assert gold_share(words, ["Tidewater", "Ann Lee", "Bo Lee"], gold, 3) == 1


def test_a_file_of_splits_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "splits.jsonl"
    dump([(QUESTION, STEPS), (QUESTION, STEPS)], file)
    assert json.loads(file.read_text()) == {"question": QUESTION, "steps": list(STEPS)}
    system = split_from_file(file)
    assert system(HopQuestion(QUESTION, HOPS, frozenset("abc"))) == STEPS
    assert system(HopQuestion("Why?", (), frozenset("a"))) == ("Why?",)


def test_a_line_that_is_no_split_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "splits.jsonl"
    file.write_text('{"question": "Why?"}\n')
    with pytest.raises(InputError, match=r"line 1 of .*: .*Why.* — write"):
        split_from_file(file)


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


def test_a_language_model_uses_the_prompt_of_the_toolkit() -> None:
    def reply(prompt: str, slots: Mapping[str, Any]) -> dict[str, Any] | str:
        if slots["question"] == "Why?":
            return "no JSON"
        first, second = SPLITS.get(slots["question"], ("", ""))
        return {"thought": "", "simple": not first, "first": first, "second": second.replace("{1}", "#1")}

    halves = prompted_splitter(FakeModel(replies=reply))
    assert flatten(QUESTION, halves, split_of) == STEPS
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
def test_a_split_is_compared_with_the_held_out_one(how: Combination, first: str, second: str, expected: str) -> None:
    gold = Written("", "", QUESTION, "", "bridge", ("Who directed Tidewater?", "Where did {1} die?"))
    assert figures([(gold, Split(how, first, second, 1.0))]) == expected


def test_halves_side_by_side_may_change_places() -> None:
    gold = Written("", "", "?", "", "both", ("Is A old?", "Is B new?"))
    assert words_f1(gold, Split("both", "Is B new?", "Is A old?", 1.0)) == 1
