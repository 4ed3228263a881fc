"""Measure the embedded splitter on held-out material: whether to split, how, and the words of the halves."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from plugins.embedded.training.writing.material import material
from plugins.embedded.training.writing.written import Written, part
from ramify.embedded.arithmetic import Combination
from ramify.embedded.splitting import Split, find_splits
from ramify.lab.metrics import token_f1

SINGLE, BRIDGE = "single", "bridge"
EVERY, PEOPLE = "all", "break"
"""Names of rows; BREAK's questions, in several sources, were taken apart by people."""
HEAD = (
    "| questions | n | single or split, right | of single ones | of ones to split | n to split | right `how` | F1 of the steps' words |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|"
)


def held_out_examples(data: Path, limit: int) -> dict[str, list[Written]]:
    """Return the held-out tenth of the material by source, without follow-ups; at most `limit` of each source, drawn at random."""
    kept = [
        written
        for written in material(data / "train")
        if part(written) == "measure" and written.how in get_args(Combination) and not written.history
    ]
    sources = {name: [written for written in kept if written.source == name] for name in sorted({written.source for written in kept})}
    some = {name: random.Random(0).sample(own, min(limit, len(own))) for name, own in sources.items()}
    together = {PEOPLE: [name for name in some if name.startswith(PEOPLE)], EVERY: list(some)}
    return some | {f"{name}, together": [written for source in own for written in some[source]] for name, own in together.items()}


def rows(data: Path, limit: int) -> Iterable[str]:
    """Return the lines of the table."""
    sources = held_out_examples(data, limit)
    split = {written.question: find_splits(written.question)[0] for own in sources.values() for written in own}
    for name, own in sources.items():
        yield f"| {name} | {len(own)} | {figures([(written, split[written.question]) for written in own])} |"


def figures(own: Sequence[tuple[Written, Split]]) -> str:
    """Return the figures of a row."""
    single, double = ([pair for pair in own if (pair[0].how == SINGLE) == wanted] for wanted in (True, False))
    kinds = [[float((gold.how == SINGLE) == (split.how == SINGLE)) for gold, split in some] for some in (list(own), single, double)]
    scores = [float(gold.how == split.how) for gold, split in double], [words_f1(gold, split) for gold, split in double]
    return " | ".join([*map(_mean, kinds), str(len(double)), *map(_mean, scores)])


def words_f1(gold: Written, split: Split) -> float:
    """Return the F1 of the words of both halves, each with its own; halves that stand side by side may change places."""
    if split.how == SINGLE:
        return 0.0
    orders = (
        [(split.first, split.second)] if BRIDGE in (gold.how, split.how) else [(split.first, split.second), (split.second, split.first)]
    )
    return max(sum(token_f1(own, [step]) for own, step in zip(order, gold.steps, strict=True)) / len(order) for order in orders)


def _mean(values: Sequence[float]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else "–"
