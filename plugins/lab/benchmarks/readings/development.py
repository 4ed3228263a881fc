"""Questions of SQuAD's kept-back paragraphs, and of the development sets that nothing was trained on: whole ones, and single hops."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from plugins.embedded.training.material import FOLDERS
from plugins.embedded.training.source import Folder, load_data_folder
from plugins.lab.benchmarks.readings.case import Case, held_out_questions, question_case, quote

SETS = ("2wikimultihopqa", "hotpotqa", "musique")


def development(data: Path) -> Iterator[tuple[str, Callable[[], Iterator[Case]]]]:
    """Return each row's name, and how its questions are made."""
    yield "SQuAD, answerable", lambda: squad(data, "span")
    yield "SQuAD, unanswerable", lambda: squad(data, "unanswerable")
    yield "SQuAD, both", lambda: itertools.chain(squad(data, "span"), squad(data, "unanswerable"))
    yield "musique, single hops", lambda: single_hops(load_data_folder(data / "musique"))
    for name in SETS:
        every = whole(load_data_folder(data / name))
        for kind, wanted in (("spans", False), ("yes or no", True)):
            if some := [case for case in every if (case.answers[0].casefold() in ("yes", "no")) == wanted]:
                yield f"{name}, whole questions, {kind}", lambda some=some: iter(some)  # type: ignore[misc]  # bound at once
        yield f"{name}, of unseen paragraphs", lambda every=every: unseen(data, every)  # type: ignore[misc]


def squad(data: Path, kind: str) -> Iterator[Case]:
    folder = load_data_folder(data / "train" / "squad_dev")
    return (question_case(folder, item) for item in held_out_questions(folder) if item["type"] == kind)


def whole(folder: Folder) -> list[Case]:
    return [case for item in folder.questions if (case := question_case(folder, item)).passages]


def single_hops(folder: Folder) -> Iterator[Case]:
    for item in folder.questions:
        steps: list[dict[str, Any]] = (item["decomposition"] or {}).get("steps", [])
        for step in steps:
            document = folder.documents.get(step.get("doc_id") or "")
            if document:
                yield Case(_filled(step["question"], steps), (quote(document.title, document.text),), (step["answer"],))


def _filled(question: str, steps: Sequence[dict[str, Any]]) -> str:
    for number, step in enumerate(steps, 1):
        question = question.replace(f"#{number}", str(step["answer"]))
    return question


def unseen(data: Path, some: Sequence[Case]) -> Iterator[Case]:
    """Leave out questions with a paragraph that is also in a training folder."""
    seen = {_plain(document.text) for name in FOLDERS for document in load_data_folder(data / "train" / name).documents.values()}
    return (case for case in some if not any(_plain(passage["text"]) in seen for passage in case.passages))


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()
