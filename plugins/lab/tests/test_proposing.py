"""`ramify questions`: questions about an index, written by a model and checked, or found by rules; the file is a person's."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ramify.lab.load.own_questions import load_own_questions
from ramify.lab.proposing import Proposals, propose_questions
from ramify.lab.question_file import QuestionFile
from ramify.studio.cli import run
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from tests.fakes import FakeModel

RIVERS = {"Ulm": "Danube", "Bonn": "Rhine", "Cairo": "Nile", "Rome": "Tiber", "Paris": "Seine", "Turin": "Po"}
Change = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Make an index of towns, of which each names its river, and of rivers."""
    folder = tmp_path_factory.mktemp("towns")
    for town, river in RIVERS.items():
        tail = "There is much to see in it, and many people come here in the summer to walk along the water and through the streets of the "
        tail += "old town, which are narrow and steep."
        (folder / f"{town}.md").write_text(f"# {town}\n\n{town} is a town on the {river}. {tail}\n", encoding="utf-8")
        (folder / f"{river}.md").write_text(
            f"# {river}\n\n{river} is a river of note. In old books it flows east. {tail}\n", encoding="utf-8"
        )
    Index.build([folder], folder / "index")
    return str(folder / "index")


def writer(change: Change = lambda kind, said: said, known: Callable[[str], str] | None = None, alone: bool = False) -> FakeModel:
    """Make a model that writes a right question of each kind; `change` spoils it, `known` answers checks otherwise."""
    written: dict[str, str] = {}

    def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        if prompt == "propose":
            said = change(slots["wanted"], _said(slots["wanted"], slots["passages"]))
            written[said["question"]] = said["answer"]
            return said
        if prompt == "answer":
            answer = known(slots["question"]) if known else written[slots["question"]]
            if "water" in slots["question"] and len(slots["passages"]) == 1 and not alone:
                answer = "Unknown"  # a two-hop question takes both
            return {"answer": answer, "confidence": 0.9, "citations": [1], "missing": ""}
        return {"users": ["a walker"], "tasks": ["plan a walk"], "asked": ["What do the towns share?", "How do the rivers differ?"]}

    return FakeModel(replies=replies)


def _said(wanted: str, passages: list[dict[str, str]]) -> dict[str, Any]:
    first, title = (passages[0]["text"].split(".")[0].split("\n")[-1] + ".", passages[0]["title"])
    if "both" in wanted:
        return {
            "question": f"What is the water at {title}?",
            "answer": "of note",
            "quotes": [first, f"{passages[1]['title']} is a river of note."],
        }
    if "Yes" in wanted or "No" in wanted:
        answer = "Yes" if "Yes" in wanted else "No"
        return {"question": f"Is {title} {'not ' if answer == 'No' else ''}this?", "answer": answer, "quotes": [first]}
    if wanted.startswith("a question about"):
        return {"question": f"How old is {title}?", "answer": "Unknown", "quotes": []}
    how = "How is" if wanted.startswith("a question beginning") else "What is"
    return {"question": f"{how} {title}?", "answer": first.partition(" is ")[2].rstrip("."), "quotes": [first]}


def proposed(
    index: str, file: Path, count: int, model: Any, kinds: tuple[str, ...] = (), seed: int = 0
) -> tuple[Proposals, list[dict[str, Any]]]:
    made = propose_questions(index, QuestionFile(file), count, {"model": model, "seed": seed}, kinds)
    return made, QuestionFile(file).rows


def test_a_model_writes_each_kind_with_its_quote_and_eval_takes_the_file(towns: str, tmp_path: Path) -> None:
    model = writer()
    made, rows = proposed(towns, tmp_path / "q.jsonl", 11, model)
    assert (made.added, made.missing) == (11, 0)
    types = [row["type"] for row in rows]
    assert {kind: types.count(kind) for kind in types} == {"fact": 3, "two-hop": 2, "yes-no": 2, "how-to": 2, "unanswerable": 2}
    assert sorted(row["answer"] for row in rows if row["type"] == "yes-no") == ["No", "Yes"]
    assert all(row["made_by"].startswith("FakeModel") and "seed 0" in row["made_by"] for row in rows)
    two = next(row for row in rows if row["type"] == "two-hop")
    assert len(two["quote"]) == len(two["source"]) == 2
    assert [len(slots["passages"]) for slots in model.asked("answer") if slots["question"] == two["question"]] == [2, 1], (
        "its quotes, one passage"
    )
    own = load_own_questions(towns, tmp_path / "q.jsonl")
    assert len(own.questions) == 11
    assert sum(question.unanswerable for question in own.questions) == 2


def test_the_same_seed_gives_the_same_questions_of_different_documents(towns: str, tmp_path: Path) -> None:
    _, first = proposed(towns, tmp_path / "a.jsonl", 6, writer(), ("fact",))
    _, again = proposed(towns, tmp_path / "b.jsonl", 6, writer(), ("fact",))
    _, other = proposed(towns, tmp_path / "c.jsonl", 6, writer(), ("fact",), seed=1)
    assert first == again
    assert len({row["source"] for row in first}) == 6
    assert [row["id"] for row in first] != [row["id"] for row in other]


def test_existing_questions_are_kept_and_missing_ones_added(towns: str, tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    _, rows = proposed(towns, file, 2, writer(), ("fact",))
    edited = {**rows[0], "question": "Which town?", "checked": "yes, by me"}
    table = list(csv.reader(file.open(encoding="utf-8", newline="")))
    with file.open("w", encoding="utf-8", newline="") as lines:
        columns = [*table[0], "checked"]
        csv.writer(lines).writerows([columns, [edited.get(name, "") for name in columns]])  # the second question is deleted
    model = writer()
    made, after = proposed(towns, file, 3, model, ("fact",))
    assert (made.added, after[0]) == (2, edited)
    assert rows[1]["id"] not in {row["id"] for row in after}, "what a person took out does not come back"
    assert len(model.asked("propose")) == 2, "nothing is tried twice"
    assert proposed(towns, file, 3, writer(), ("fact",))[0].added == 0


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("fact", {"quotes": ["It is said to be so."]}, "a quote is not in the passage"),
        ("fact", {"question": "What does the passage say?"}, "it cannot be understood without the passage"),
        ("fact", {"answer": "Unknown"}, "it has no answer"),
        ("how-to", {"question": "", "answer": "", "quotes": []}, "the passages have nothing of the kind"),
        ("fact", {"question": "Is a river of note meant?", "answer": "river of note"}, "it gives its answer away"),
        ("yes-no", {"answer": "Perhaps"}, "its answer is not Yes"),
        ("two-hop", {"quotes": ["There is much to see in it"]}, "it does not quote both passages"),
    ],
)
def test_what_is_wrong_is_dropped_and_counted(kind: str, change: dict[str, Any], reason: str, towns: str, tmp_path: Path) -> None:
    made, rows = proposed(towns, tmp_path / "q.jsonl", 1, writer(lambda wanted, said: {**said, **change}), (kind,))
    assert (made.added, made.missing, rows) == (0, 1, [])
    assert made.dropped[reason] > 1


def test_a_question_that_its_quote_or_search_answers_otherwise_is_dropped(towns: str, tmp_path: Path) -> None:
    wrong, _ = proposed(towns, tmp_path / "a.jsonl", 1, writer(known=lambda question: "something else"), ("fact",))
    assert [*wrong.dropped] == ["its quote alone gives another answer"]
    answered, _ = proposed(towns, tmp_path / "b.jsonl", 1, writer(known=lambda question: "900 years"), ("unanswerable",))
    assert [*answered.dropped] == ["passages found answer it"]
    easy, _ = proposed(towns, tmp_path / "c.jsonl", 1, writer(alone=True), ("two-hop",))
    assert [*easy.dropped] == ["one of its passages answers it alone"]


def test_overviews_go_by_users_and_tasks_and_are_open(towns: str, tmp_path: Path) -> None:
    _, rows = proposed(towns, tmp_path / "q.jsonl", 2, writer(), ("overview",))
    assert [(row["question"], row["type"]) for row in rows] == [("What do the towns share?", "open"), ("How do the rivers differ?", "open")]
    assert "for a walker: plan a walk" in rows[0]["made_by"]
    assert load_own_questions(towns, tmp_path / "q.jsonl").questions[0].golds == ("",)


def test_the_embedded_model_uses_rules(towns: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q.jsonl"
    assert run(["questions", towns, "--out", str(file), "--n", "4", "--kinds", "fact,yes-no", "--model", "extractive"]) == 0
    output = capsys.readouterr()
    assert "weaker than a language model's" in output.err
    assert f"`ramify eval --index {towns} --questions {file} --out RUN`" in output.out
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert all(row["question"].startswith(("What is ", "Who is ", "Is ")) and "rule: a definition" in row["made_by"] for row in rows)
    assert sorted(row["answer"] for row in rows if row["type"] == "yes-no") == ["No", "Yes"]
    assert len(load_own_questions(towns, file).questions) == 4


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--kinds", "riddle"], "there is no kind of question 'riddle'"),
        (["--kinds", "two-hop"], "questions of kind 'two-hop' require a language model"),
        (["--out", "q.xlsx"], "name a file that ends in .jsonl or .csv"),
    ],
)
def test_what_cannot_be_made_is_refused(more: list[str], text: str, towns: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["questions", towns, "--out", str(tmp_path / "q.jsonl"), "--model", "extractive", *more]) == 2
    assert text in capsys.readouterr().err


def test_rules_find_fields_and_instructions(tmp_path: Path) -> None:
    text = (
        "Material: Steel\nWeight: 12 kg\n\nTo open the valve slowly, turn the handle to the left. "
        + "It is made for many years of use. " * 5
    )
    (tmp_path / "Valve.md").write_text(f"# Valve 12\n\n{text}\n", encoding="utf-8")
    Index.build([tmp_path / "Valve.md"], tmp_path / "index")
    _, rows = proposed(str(tmp_path / "index"), tmp_path / "q.jsonl", 2, "extractive", ("fact", "how-to"))
    assert [(row["question"], row["answer"]) for row in rows] == [
        ("What is the material of Valve 12?", "Steel"),
        ("How do you open the valve slowly?", "turn the handle to the left"),
    ]


def test_what_was_tried_is_appended_and_half_a_line_of_a_killed_run_is_none(tmp_path: Path) -> None:
    tried = tmp_path / "q.jsonl.tried"
    tried.write_bytes(b"one\tkept\n" + "two\tit is é".encode()[:-1])
    file = QuestionFile(tmp_path / "q.jsonl")
    file.record_outcome("three", "kept")
    with tried.open("ab") as lines:
        lines.write(b"\nfou")
    again = QuestionFile(tmp_path / "q.jsonl")
    again.record_outcome("five", "kept")
    again = QuestionFile(tmp_path / "q.jsonl")
    assert [key for key in ("one", "two", "three", "fou", "four", "five") if again.was_tried(key)] == ["one", "two", "three", "five"]
    assert tried.read_bytes().startswith(b"one\tkept\n"), "nothing is written anew"


def test_a_kind_that_is_none_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose among fact, two-hop"):
        proposed("demo", tmp_path / "q.jsonl", 1, writer(), ("riddle",))
