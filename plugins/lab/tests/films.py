"""A small data set of films and their directors, and runs on it in several kinds of index."""

import json
from pathlib import Path
from typing import Any

from plugins.lab.tests.small_data_set import make_options
from ramify.lab.plan import RunOptions
from ramify.lab.task import Row
from tests.fakes import FakeModel

BOTH = ("passages", "graph")

FILMS = {
    "Silent Harbour": ("Ilse Marrow", "Brennock"),
    "Copper Winter": ("Tobias Fenn", "Aldermere"),
    "Paper Lantern": ("Greta Solheim", "Kvanndal"),
    "Glass Orchard": ("Rufus Tarn", "Ostrava"),
}

NAIVE = "naive"


def _question(number: int, film: str) -> dict[str, Any]:
    director, town = FILMS[film]
    gold = [{"doc_id": title.lower().replace(" ", "-"), "title": title} for title in (film, director)]
    question = f"In which town did the director of the film {film} grow up?"
    return {"id": f"q{number}", "question": question, "answer": town, "type": "bridge", "supporting": gold}


def write_films(folder: Path) -> Path:
    """Write films, their directors, and much talk of directors who grow up in towns: only a name leads from film to director."""
    folder.mkdir()
    texts = [(film, f"{film} was made by {director} in four weeks of rain.") for film, (director, _) in FILMS.items()]
    texts += [(director, f"{director} spent early years beside the mill at {town}.") for director, town in FILMS.values()]
    texts += [(f"Essay {number}", f"The director of a film will often grow up in a small town. {number}") for number in range(9)]
    corpus = [{"id": title.lower().replace(" ", "-"), "title": title, "text": text} for title, text in texts]
    questions = [_question(number, film) for number, film in enumerate(FILMS)]
    for name, records in (("corpus.jsonl", corpus), ("questions.jsonl", questions)):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def film_options(data: Path, out: Path, kinds: tuple[str, ...] | None = BOTH, model: FakeModel | None = None, **more: Any) -> RunOptions:
    reading = model or FakeModel(replies=lambda prompt, slots: {"answer": "Brennock", "confidence": 0.9, "citations": [1]})
    options = {"k": 4, **more.pop("options", {})}
    return make_options(data, out, reading, **{"strategies": (NAIVE,), "index_kinds": kinds, "options": options, **more})


def search_options(data: Path, out: Path, kinds: tuple[str, ...] | None = BOTH, **more: Any) -> RunOptions:
    return RunOptions(datasets=(str(data),), strategies=(), out=out, retrieval_only=True, index_kinds=kinds, **more)


def retrieved_by_id(rows: list[Row], variant: str, strategy: str = NAIVE) -> dict[str, list[str]]:
    return {row["id"]: row["retrieved"] for row in rows if (row["strategy"], row["variant"]) == (strategy, variant)}
