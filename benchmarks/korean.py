"""Measure what is found for Korean questions: those of KorQuAD 1.0's development half, with each embedding, by vectors and by words.

    RAMIFY_DATA=… python benchmarks/korean.py [--limit N] [--work DIR]

It needs `ramify download e5-multilingual`. What is in DIR is not made again.
"""

import argparse
import gzip
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from ramify.evaluation.metrics import bootstrap_interval
from ramify.studio.console.progress_bar import bar
from ramify.tools.embeddings.e5 import E5
from ramify.tools.embeddings.minilm import MINILM
from ramify.tools.index import Index

DATASET: Final = "korquad_v1_dev"
FOUND: Final = 5
WAYS: Final[dict[str, dict[str, Any]]] = {"vectors": {"hybrid": False}, "words": {"dense": False}, "both": {}}


class Question(NamedTuple):
    """A question, and the paragraph that answers it."""

    text: str
    paragraph: str


def questions(folder: Path, limit: int) -> list[Question]:
    """Draw so many questions, the same each time."""
    with gzip.open(folder / "questions.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = list(map(json.loads, lines))
    some = random.Random(0).sample(records, min(limit, len(records)))
    return [Question(one["question"], one["supporting"][0]["doc_id"]) for one in some]


def index(folder: Path, work: Path, embedding: str) -> Index:
    """Build an index, or open the one that is there."""
    with bar() as progress:
        Index.build([folder / "corpus.jsonl.gz"], work / embedding, embedding, progress=progress)
    return Index.open(work / embedding)


def share(values: Sequence[float]) -> str:
    """Write a mean in percent with its 95 % interval."""
    low, high = bootstrap_interval(values)
    return f"{100 * fmean(values):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def search(folder: Path, work: Path, limit: int) -> Iterator[str]:
    """Give the share of questions whose paragraph is among the first found."""
    asked = questions(folder, limit)
    yield f"| search | embedding | recall@{FOUND}, n = {len(asked)} |\n|---|---|--:|"
    for embedding in (MINILM, E5):
        found_in = index(folder, work, embedding)
        for way, options in WAYS.items():
            found = found_in.search([one.text for one in asked], k=FOUND, **options)
            held = [{paragraph_of(hit.document.id) for hit in hits} for hits in found]
            yield f"| {way} | {embedding} | {share([float(one.paragraph in own) for one, own in zip(asked, held, strict=True)])} |"


def paragraph_of(passage: object) -> str:
    """Return the id of the document that a passage is of."""
    return str(passage).partition("~")[0]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=500, help="questions (default: 500)")
    parser.add_argument("--work", type=Path, default=Path("build/korean"), metavar="DIR", help="default: build/korean")
    given = parser.parse_args()
    folder = Path(os.environ["RAMIFY_DATA"]) / DATASET
    for line in search(folder, given.work, given.limit):
        print(line, flush=True)


if __name__ == "__main__":
    main()
