"""A small data set of one's own, and models that know its answers: for tests of runs."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ramify.lab.plan import RunOptions
from ramify.lab.task import Row
from tests.fakes import FakeModel

RIVERS = {"Paris": "Seine", "Rome": "Tiber", "London": "Thames", "Cairo": "Nile", "Vienna": "Danube", "Warsaw": "Vistula"}
TOWNS = tuple(RIVERS)


def make_questions(count: int) -> list[dict[str, Any]]:
    """Make questions on a few towns, each under an id of its own; of two types."""
    return [_question(number, TOWNS[number % len(TOWNS)]) for number in range(count)]


def _question(number: int, town: str) -> dict[str, Any]:
    again = f" Say it for the {number}th time." if number >= len(TOWNS) else ""
    return {
        "id": f"q{number}",
        "question": f"Which river runs through {town}?{again}",
        "answer": RIVERS[town],
        "type": "odd" if number % 2 else "even",
        "supporting": [{"doc_id": town.lower(), "title": town}],
    }


def write_data(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """Write questions and the corpus that answers them."""
    folder.mkdir(parents=True, exist_ok=True)
    towns = [{"id": town.lower(), "title": town, "text": f"The river {river} runs through {town}."} for town, river in RIVERS.items()]
    for name, records in (("corpus.jsonl", towns), ("questions.jsonl", rows)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def make_model(fails: Callable[[str], bool] = lambda question: False) -> FakeModel:
    """Make a model that knows the rivers, and breaks at questions for which `fails` holds."""

    def replies(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
        question = str(slots["question"])
        if fails(question):
            raise OSError("the wire was cut")
        town = next(town for town in TOWNS if town in question)
        return {"answer": RIVERS[town] if town != "Cairo" else "Congo", "confidence": 0.9, "citations": [1]}

    return FakeModel(replies=replies)


def make_options(data: Path, out: Path, model: Any = None, **more: Any) -> RunOptions:
    """Return the options of a run of `closed-book`, the cheapest strategy, on the data."""
    options = {"model": model or make_model(), **more.pop("options", {})}
    return RunOptions(**{"datasets": (str(data),), "strategies": ("closed-book",), "options": options, "out": out, **more})


def without_times(rows: list[Row]) -> dict[str, Row]:
    """Return the lines by their keys, without the seconds that they took."""
    return {row["key"]: {**row, "usage": {**(row["usage"] or {}), "wall_s": 0, "loading_s": 0}} for row in rows}


def question_rows(rows: list[Row]) -> dict[str, Row]:
    """Return the lines of questions by their keys: all but those of searching alone."""
    return {row["key"]: row for row in rows if row["strategy"] != "search"}
