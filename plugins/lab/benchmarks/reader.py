"""Measure the reader alone: passages are given, nothing is searched or decomposed.

    RAMIFY_DATA=… python plugins/lab/benchmarks/reader.py [--limit N] [--rows WORDS]

First what it answers: SQuAD's paragraphs that no example of the training was made from (a tenth of them); the development sets' single hops
and whole questions with their gold paragraphs; then kinds of questions and of text, from the tenth of the training material that is only
measured, and made sentences. Then how well its relevance tells the passage that bears on a question from one that looks alike.
"""

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parents[3]))  # neither training/ nor benchmarks/ is installed

from plugins.embedded.training.choose import accuracy, auc, by_source
from plugins.embedded.training.example import Example
from plugins.embedded.training.material import load_material, part_of_example
from plugins.lab.benchmarks.readings.case import Case
from plugins.lab.benchmarks.readings.development import development
from plugins.lab.benchmarks.readings.kinds import kinds
from ramify.embedded.reader.calibration import MIN_CONFIDENCE
from ramify.embedded.reader.reading import read_context
from ramify.embedded.reader.short_answers import read_answer
from ramify.lab.metrics import bootstrap_interval, exact_match, expected_calibration_error, token_f1

RANKED = ("squadshifts", "nq_oracle_dev", "linked", "boolq_train", "techdocs_faq", "selqa_ass")
HEAD = "| questions | n | EM | F1 | EM where unsure answers are withheld | withheld | ECE |\n|---|--:|--:|--:|--:|--:|--:|"
HEAD_RANKED = "| relevance | n | right | AUC |\n|---|--:|--:|--:|"
Item = TypeVar("Item")


def figures(some: Sequence[Case]) -> str:
    """Read all cases; return the figures of a row."""
    spans = [read_answer(case.question, case.passages) for case in some]
    given = [span.answer if span.confidence >= MIN_CONFIDENCE else "" for span in spans]
    golds = [case.answers or ("",) for case in some]
    answered = [exact_match(span.answer, case.answers) for span, case in zip(spans, some, strict=True)]
    ece = expected_calibration_error([min(1.0, span.confidence) for span in spans], answered)
    columns = (
        [exact_match(span.answer, gold) for span, gold in zip(spans, golds, strict=True)],
        [token_f1(span.answer, gold) for span, gold in zip(spans, golds, strict=True)],
        [exact_match(answer, gold) for answer, gold in zip(given, golds, strict=True)],
        [float(not answer) for answer in given],
    )
    return " | ".join([*map(_with_interval, columns), f"{ece:.3f}"])


def _with_interval(values: Sequence[float]) -> str:
    low, high = bootstrap_interval(values)
    return f"{100 * sum(values) / len(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def relevance(data: Path, limit: int) -> Iterator[str]:
    """Return a row for each source with passages that bear on a question and others that look as if."""
    sources = [f"{name}{other}" for name in RANKED for other in ("", "_other")]
    kept: dict[str, list[Example]] = {source: [] for source in sources}
    for example in load_material(data / "train", sources):
        if part_of_example(example) == "measure":
            kept[example.source].append(example)
    some = [example for source in sources for example in draw_cases(kept[source], limit)]
    relevances = by_source((example, read_context(example.question, example.context).relevance) for example in some)
    for name, ones in relevances.items():
        area = auc(ones)
        yield f"| {name} | {len(ones)} | {100 * accuracy(ones):.1f} | {'' if area is None else f'{area:.3f}'} |"


def draw_cases(every: Sequence[Item], limit: int) -> list[Item]:
    return random.Random(0).sample(every, min(limit, len(every)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the reader alone.")
    parser.add_argument("--limit", type=int, default=1000, help="at most so many questions of a row, chosen by chance")
    parser.add_argument("--rows", default="", help="only rows with these words in their name; `relevance` for the second table")
    arguments = parser.parse_args()
    data = Path(os.environ["RAMIFY_DATA"])
    print(HEAD)
    for name, make in (*development(data), *kinds(data)):
        if arguments.rows in name and (some := draw_cases(list(make()), arguments.limit)):
            print(f"| {name} | {len(some)} | {figures(some)} |", flush=True)
    if arguments.rows in "relevance":
        print(f"\n{HEAD_RANKED}", *relevance(data, arguments.limit), sep="\n")


if __name__ == "__main__":
    main()
