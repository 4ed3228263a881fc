"""Questions about an index of one's own: read from any format, checked against the index before anything is asked."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from ramify.lab.dataset import Dataset
from ramify.lab.load.own_questions import load_own_questions
from ramify.tools.errors import InputError
from ramify.tools.search.searcher import DEMO, open_index

LEM: dict[str, Any] = {
    "question": "Who wrote Solaris?",
    "answer": "Stanisław Lem",
    "aliases": "Lem; S. Lem",
    "type": "fact",
    "source": "Solaris (novel)",
}
BORN: dict[str, Any] = {"question": "When was Lem born?", "answer": "12 September 1921", "quote": "born on 12 September 1921 in Lwów"}
NOBODY: dict[str, Any] = {"id": "none", "question": "Who is king of Atlantis?", "answer": "", "type": "unanswerable"}
COLUMNS = ("id", "question", "answer", "aliases", "type", "source", "quote", "needs_answer")


def write_questions(file: Path, *questions: dict[str, Any]) -> Path:
    """Write a file of questions in the format of its name."""
    rows = [COLUMNS, *([str(question.get(name, "")) for name in COLUMNS] for question in questions)]
    if file.suffix == ".csv":
        with file.open("w", encoding="utf-8-sig", newline="") as opened_file:
            csv.writer(opened_file, delimiter=";").writerows(rows)
    elif file.suffix == ".xlsx":
        book = Workbook()
        for row in rows:
            book.active.append(row)
        book.save(file)
    else:
        file.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    return file


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".xlsx"])
def test_a_file_of_any_format_gives_the_same_questions(suffix: str, tmp_path: Path) -> None:
    own = load_own_questions(DEMO, write_questions(tmp_path / f"mine{suffix}", LEM, BORN, NOBODY))
    first = 1 if suffix == ".jsonl" else 2
    assert (own.name, [question.id for question in own.questions]) == ("mine", [str(first), str(first + 1), "none"])
    wrote, born, nobody = own.questions
    assert wrote.golds == ("Stanisław Lem", "Lem", "S. Lem")
    assert wrote.gold_documents == ("corpus.jsonl#solaris-novel",)
    assert (born.gold_documents, born.gold_facts) == (("corpus.jsonl#stanislaw-lem",), (BORN["quote"],))
    assert nobody.unanswerable
    assert [own.hits_by_for(question) for question in own.questions] == ["source", "quote", "source"]
    assert own.origin["index"] == open_index(DEMO).where


def test_several_sources_and_quotes_are_lines_of_a_cell(tmp_path: Path) -> None:
    both = {**LEM, "source": "Solaris (novel)\ncorpus.jsonl#stanislaw-lem", "quote": f"first published in Warsaw in 1961\n{BORN['quote']}"}
    [question] = load_own_questions(DEMO, write_questions(tmp_path / "mine.csv", both)).questions
    assert question.gold_documents == ("corpus.jsonl#solaris-novel", "corpus.jsonl#stanislaw-lem")
    assert question.gold_facts == ("first published in Warsaw in 1961", BORN["quote"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"source": "atlas.pdf"},
            r"line 2 of '.*' names the source 'atlas.pdf', which is not a document of the index — give its path or title",
        ),
        ({"quote": "Lem was tall."}, r"line 2 of '.*' quotes 'Lem was tall.', which is not in any passage of the index — copy a sentence"),
        ({**LEM, "quote": BORN["quote"]}, r"line 2 .* is not in any passage of 'Solaris \(novel\)'"),
        ({"answer": ""}, r"line 2 .* has no gold answer — give it one"),
        ({"answer": "", "needs_answer": True}, r"line 2 .* needs an answer — write"),
        ({"source": ["Solaris (novel)"] * 3, "quote": [BORN["quote"]] * 2}, r"line 2 .* has 3 sources and 2 quotes"),
        ({"id": "1"}, r"two questions have the id '1' \(line 1 .*, line 2"),
    ],
)
def test_an_error_names_its_line(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        load_own_questions(DEMO, write_questions(tmp_path / "mine.jsonl", LEM, {**BORN, **change}))


def test_an_open_question_requires_its_type(tmp_path: Path) -> None:
    themes = {"question": "What are the themes?", "type": "open"}
    own: Dataset = load_own_questions(DEMO, write_questions(tmp_path / "mine.jsonl", themes))
    assert own.questions[0].golds == ("",)
    assert "1 of 1 questions are open" in own.caveats[0]


def test_columns_without_a_question_are_named(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("frage,antwort\nWer?,Lem\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no column 'question', but frage, antwort"):
        load_own_questions(DEMO, tmp_path / "mine.csv")
    (tmp_path / "mine.xlsx").write_bytes(b"PK no workbook")
    with pytest.raises(InputError, match=r"mine.xlsx' cannot be read"):
        load_own_questions(DEMO, tmp_path / "mine.xlsx")
