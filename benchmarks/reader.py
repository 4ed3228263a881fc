"""Measure the reader alone, the neural one beside the rules: passages are given, nothing is searched or decomposed.

RAMIFY_DATA=… python benchmarks/reader.py [--limit N]

SQuAD: paragraphs that no example of the training was made from (a tenth of them). The other sets: whole questions of the development
halves with their gold paragraphs, spans and yes/no; of MuSiQue also the single hops of its official decompositions.
"""

import argparse
import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # training/ is beside this folder, and not installed

from ramify.evaluation.metrics.answers import exact_match, token_f1
from ramify.evaluation.metrics.calibration import expected_calibration_error
from ramify.evaluation.statistics import bootstrap_interval
from ramify.tools.extractive.in_force import threshold
from ramify.tools.extractive.read import Reader, read, reading_with
from ramify.tools.extractive.text import Quote
from training.material import FOLDERS, part
from training.passages_read import squad
from training.source import Folder, gold, load

SETS = ("2wikimultihopqa", "hotpotqa", "musique")


@dataclass(frozen=True)
class Case:
    """A question, its passages, and its answers: none where it cannot be answered from them."""

    question: str
    passages: tuple[Quote, ...]
    answers: tuple[str, ...]


def squad_cases(data: Path, answerable: bool) -> Iterator[Case]:
    folder = load(data / "train" / "squad_dev")
    measured = {example.group for example in squad(folder) if part(example) == "measure"}
    for item in folder.questions:
        document = gold(folder, item)[0]
        if document.id in measured and (item["type"] == "span") == answerable:
            answers = (item["answer"], *item["answer_aliases"]) if answerable else ()
            yield Case(item["question"], (_quote(document.title, document.text),), answers)


def whole_questions(folder: Folder) -> Iterator[Case]:
    for item in folder.questions:
        passages = tuple(_quote(document.title, document.text) for document in gold(folder, item))
        if passages:
            yield Case(item["question"], passages, (item["answer"], *item["answer_aliases"]))


def single_hops(folder: Folder) -> Iterator[Case]:
    for item in folder.questions:
        steps: list[dict[str, Any]] = (item["decomposition"] or {}).get("steps", [])
        for step in steps:
            document = folder.documents.get(step.get("doc_id") or "")
            if document:
                yield Case(_filled(step["question"], steps), (_quote(document.title, document.text),), (step["answer"],))


def _filled(question: str, steps: Sequence[dict[str, Any]]) -> str:
    for number, step in enumerate(steps, 1):
        question = question.replace(f"#{number}", str(step["answer"]))
    return question


def _quote(title: str | None, text: str) -> Quote:
    return Quote(title=title or "", source="", text=text)


def unseen(data: Path, some: Iterator[Case]) -> Iterator[Case]:
    """Leave out questions with a paragraph that is also in a training folder."""
    seen = {_plain(document.text) for name in FOLDERS for document in load(data / "train" / name).documents.values()}
    return (case for case in some if not any(_plain(passage["text"]) in seen for passage in case.passages))


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def cases(data: Path) -> Iterator[tuple[str, Callable[[], Iterator[Case]]]]:
    yield "SQuAD, answerable", lambda: squad_cases(data, True)
    yield "SQuAD, unanswerable", lambda: squad_cases(data, False)
    yield "SQuAD, both", lambda: itertools.chain(squad_cases(data, True), squad_cases(data, False))
    for name in SETS:
        every = list(whole_questions(load(data / name)))
        for kind, wanted in (("spans", False), ("yes or no", True)):
            if some := [case for case in every if (case.answers[0].casefold() in ("yes", "no")) == wanted]:
                yield f"{name}, whole questions, {kind}", lambda some=some: iter(some)  # type: ignore[misc]  # bound at once
        yield f"{name}, of unseen paragraphs", lambda every=every: unseen(data, iter(every))  # type: ignore[misc]
    yield "musique, single hops", lambda: single_hops(load(data / "musique"))


def measured(reader: Reader, some: Sequence[Case]) -> str:
    """Read all cases; give the figures of a row."""
    with reading_with(reader):
        least = threshold()
        spans = [read(case.question, case.passages) for case in some]
    given = [span.answer if span.confidence >= least else "" for span in spans]
    golds = [case.answers or ("",) for case in some]
    right = [exact_match(span.answer, gold) for span, gold in zip(spans, golds, strict=True)]
    answered = [exact_match(span.answer, case.answers) for span, case in zip(spans, some, strict=True)]
    ece = expected_calibration_error([min(1.0, span.confidence) for span in spans], answered)
    figures = (
        right,
        [token_f1(span.answer, gold) for span, gold in zip(spans, golds, strict=True)],
        [exact_match(answer, gold) for answer, gold in zip(given, golds, strict=True)],
        [float(not answer) for answer in given],
    )
    return " | ".join([*map(_with_interval, figures), f"{ece:.3f}"])


def _with_interval(values: Sequence[float]) -> str:
    low, high = bootstrap_interval(values)
    return f"{100 * sum(values) / len(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the reader alone.")
    parser.add_argument("--limit", type=int, default=1000, help="at most so many questions of a set, chosen by chance")
    given = parser.parse_args()
    print("| questions | n | reader | EM | F1 | EM where unsure answers are withheld | withheld | ECE |\n|---|--:|---|--:|--:|--:|--:|--:|")
    for name, make in cases(Path(os.environ["RAMIFY_DATA"])):
        every = list(make())
        some = random.Random(0).sample(every, min(given.limit, len(every)))
        for reader in ("rules", "neural"):
            print(f"| {name} | {len(some)} | {reader} | {measured(reader, some)} |", flush=True)


if __name__ == "__main__":
    main()
