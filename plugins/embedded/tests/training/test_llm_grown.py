"""Examples and pairs from the trees of a run: of right trees, of what a wrong one answered otherwise, of no kept-out question."""

import json
from pathlib import Path
from typing import Any

import pytest

from plugins.embedded.training.example import assign_part
from plugins.embedded.training.llm.grown import main
from plugins.embedded.training.writing.written import fold
from plugins.lab.tests.few_lines import make_line, write_run

TRAINED, MEASURED = (
    next(question for number in range(99) if (assign_part(fold(question := f"Who built mill {number}?")) == "measure") is measured)
    for measured in (False, True)
)
TITLE = next(title for number in range(99) if assign_part(fold(title := f"Mill {number}")) == "measure")
Lines = list[dict[str, Any]]


def call(question: str, title: str = "", **reply: Any) -> dict[str, Any]:
    shown = f'<passage n="1" title="{title}">\nIt is old.\n</passage>\n' if title else ""
    messages = [{"role": "system", "content": "Reply."}, {"role": "user", "content": f"{shown}Question: {question}"}]
    return {"prompt": "answer", "question": question, "messages": messages, "reply": {"thought": "It says so.", **reply}}


def line(number: int, question: str, seed: int, right: bool, *calls: dict[str, Any]) -> dict[str, Any]:
    answer = {"answer": "Ada" if right else "Bo", "gold": "Ada", "aliases": ["Ada King"], "em": float(right)}
    return make_line(number, "tor", f"seed={seed}", question=question, **answer, error=None, calls=list(calls), tree=[])


def grow(tmp_path: Path, *rows: dict[str, Any], options: tuple[str, ...] = ()) -> dict[str, Lines]:
    main([str(write_run(tmp_path / "run", *rows)), str(tmp_path / "out"), *options])
    files = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in (tmp_path / "out").iterdir()}
    return {name: [json.loads(text) for text in lines] for name, lines in files.items()}


def test_calls_of_right_trees_are_examples(tmp_path: Path) -> None:
    right, wrong = call(TRAINED, answer="Ada", citations=[]), call("Who paid?", answer="Bo", citations=[])
    made = grow(tmp_path, line(1, TRAINED, 0, True, right), line(1, TRAINED, 1, False, wrong))
    (example,) = made["train"]
    assert example["messages"] == right["messages"]
    assert json.loads(example["reply"]) == right["reply"]
    assert {"prompt", "source", "kind"} < example.keys()
    assert not made["kept_out"] + made["pairs"]


def test_another_reply_of_a_wrong_tree_to_the_same_call_makes_a_pair(tmp_path: Path) -> None:
    right, wrong = call(TRAINED, answer="Ada"), call(TRAINED, answer="Bo")
    made = grow(tmp_path, line(1, TRAINED, 0, True, right), line(1, TRAINED, 1, False, wrong))
    (pair,) = made["pairs"]
    assert pair["messages"] == right["messages"]
    assert [json.loads(pair[name])["answer"] for name in ("chosen", "rejected")] == ["Ada", "Bo"]


def test_the_same_outcome_with_another_thought_is_no_pair(tmp_path: Path) -> None:
    again = call(TRAINED, answer="Ada", thought="So it is.")
    assert not grow(tmp_path, line(1, TRAINED, 0, True, call(TRAINED, answer="Ada")), line(1, TRAINED, 1, False, again))["pairs"]


def test_an_answer_to_what_no_document_tells_is_rejected(tmp_path: Path) -> None:
    right, wrong = call(TRAINED, answer="Unknown"), call(TRAINED, answer="Bo")
    rows = ({**line(1, TRAINED, 0, True, right), "answer": "Unknown"}, line(1, TRAINED, 1, False, wrong))
    made = grow(tmp_path, *({**row, "gold": None, "aliases": [], "unanswerable": True} for row in rows))
    assert [json.loads(pair["rejected"])["answer"] for pair in made["pairs"]] == ["Bo"]


@pytest.mark.parametrize(("cited", "kept"), [(["a"], 0), (["a", "b"], 1)])
def test_one_of_the_answers_that_the_question_offers_needs_its_documents(tmp_path: Path, cited: list[str], kept: int) -> None:
    question = next(text for number in range(99) if assign_part(fold(text := f"Who is older, Ada or Bo of mill {number}?")) == "train")
    right = line(1, question, 0, True, call(question, answer="Ada"))
    branch = {"path": "0", "question": question, "status": "leaf", "cited": cited}
    open_question = line(2, TRAINED, 0, True, call(TRAINED, answer="Ada"))
    made = grow(tmp_path, {**right, "gold_documents": ["a", "b"], "tree": [branch]}, open_question)
    assert len(made["train"]) == 1 + kept


def test_what_an_action_does_not_use_is_no_other_outcome(tmp_path: Path) -> None:
    right, wrong = (call(TRAINED, action="answer", answer="Ada", questions=questions) for questions in ([], ["Who is Ada?"]))
    assert not grow(tmp_path, line(1, TRAINED, 0, True, right), line(1, TRAINED, 1, False, wrong))["pairs"]


def test_another_form_of_the_right_answer_is_not_rejected(tmp_path: Path) -> None:
    right, other = call(TRAINED, answer="Ada"), call(TRAINED, answer="Ada Lovelace")
    longer = {**line(1, TRAINED, 1, False, other), "answer": "Ada Lovelace"}
    assert not grow(tmp_path, line(1, TRAINED, 0, True, right), longer)["pairs"]


@pytest.mark.parametrize(("question", "title"), [(MEASURED, "Old"), (TRAINED, TITLE)])
def test_questions_that_are_measured_are_not_trained_on(tmp_path: Path, question: str, title: str) -> None:
    right, wrong = call(question, title, answer="Ada", citations=[1]), call(question, title, answer="Bo", citations=[1])
    made = grow(tmp_path, line(1, question, 0, True, right), line(1, question, 1, False, wrong))
    assert len(made["kept_out"]) == 1
    assert not made["train"] + made["pairs"]


def test_questions_of_examples_that_are_kept_out_are_not_trained_on(tmp_path: Path) -> None:
    right, wrong = call(TRAINED, answer="Ada"), call(TRAINED, answer="Bo")
    kept_out = tmp_path / "kept_out.jsonl"
    kept_out.write_text(json.dumps(call(TRAINED, "Old", answer="Ada")) + "\n")
    rows = (line(1, TRAINED, 0, True, right), line(1, TRAINED, 1, False, wrong))
    made = grow(tmp_path, *rows, options=("--apart", str(kept_out)))
    assert len(made["kept_out"]) == 1
    assert not made["train"] + made["pairs"]
