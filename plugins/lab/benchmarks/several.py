"""Measure what choosing among collections finds, by how far below the best fit a collection is still searched.

    RAMIFY_DATA=… python plugins/lab/benchmarks/several.py [--questions 60] [--passages 1000] [--work FOLDER]

Each set becomes an index: the gold passages of some of its questions and others drawn with a fixed seed. All questions are put to all of
them, and the share of their gold passages among the first five found is printed, for descriptions as below and for titles alone.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.tools.embeddings import load_encoder
from ramify.tools.index import Index
from ramify.tools.search import collection_set as choosing
from ramify.tools.search.searcher import find_passages

SETS = {
    "2wikimultihopqa": "Encyclopedia paragraphs on people, films, places and history",
    "hotpotqa": "Encyclopedia articles on people, films, music, places and companies",
    "faa_ac43_13_1b": "Manual for the inspection and repair of aircraft: wood, fabric, metal, welding, engines, electrical systems",
    "lihua_world": "Chats of Li Hua with friends and family about daily life",
    "mwo_work_orders": "Maintenance work orders of mining equipment",
}
MARGINS = (0.0, 0.03, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 2.0)
"""The last searches all."""
K = 5


class GoldQuestion(NamedTuple):
    """A question, its set, and the ids of its gold passages."""

    name: str
    question: str
    gold: frozenset[str]


def read(path: Path) -> list[dict[str, Any]]:
    """Read a packed file of records; none where there is no file."""
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def build(folder: Path, out: Path, draw: random.Random, questions: int, passages: int) -> list[GoldQuestion]:
    """Make the index of a set, where it is not there, and return its questions."""
    known = {document["id"]: document for document in read(folder / "corpus.jsonl.gz")}
    asked = [row for row in read(folder / "questions.jsonl.gz") if row["supporting"]]
    drawn = draw.sample(asked, min(questions, len(asked)))
    gold_questions = [GoldQuestion(folder.name, row["question"], frozenset(gold["doc_id"] for gold in row["supporting"])) for row in drawn]
    gold = {id for question in gold_questions for id in question.gold} & known.keys()
    others = sorted(known.keys() - gold)
    kept = sorted(gold) + draw.sample(others, min(passages, len(others)))
    if not out.exists():
        texts = [f"{known[id]['title'] or ''}\n{known[id]['text']}" for id in kept]
        metadata = [{"title": known[id]["title"] or "", "source": id} for id in kept]
        Index.from_texts(texts, load_encoder("minilm"), metadata, ids=kept, path=out)
    return gold_questions


async def recall(several: choosing.CollectionSet, asked: Sequence[GoldQuestion], margin: float) -> str:
    """Return a row: collections searched for a question, how often its own is among them, and the share of gold passages found."""
    choosing.FIT_MARGIN = margin
    chosen = choosing.select_collections(several, [question.question for question in asked])
    own = [several.names.index(question.name) in places for question, places in zip(asked, chosen, strict=True)]
    rankings = await find_passages(several, [question.question for question in asked], k=K)
    shares = [
        len({hit.source for hit in hits} & question.gold) / len(question.gold) for question, hits in zip(asked, rankings, strict=True)
    ]
    counts = (sum(map(len, chosen)) / len(asked), sum(own) / len(asked), sum(shares) / len(asked))
    return f"{margin:g} | {counts[0]:.1f} | {counts[1]:.2f} | {counts[2]:.3f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--work", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work, draw = arguments.work or Path(folder), random.Random(1)
        places = {name: work / name for name in SETS}
        data = Path(os.environ["RAMIFY_DATA"])
        asked = [
            question for name, out in places.items() for question in build(data / name, out, draw, arguments.questions, arguments.passages)
        ]
        for described in (True, False):
            for name, place in places.items():
                Index.open(place).store.describe(SETS[name] if described else "")
            several = choosing.CollectionSet.from_members([Index.open(place) for place in places.values()])
            print(f"\n{len(asked)} questions, {'with descriptions' if described else 'with titles alone'}")
            print("margin | collections | its own among them | share found")
            for margin in MARGINS:
                print(asyncio.run(recall(several, asked, margin)), flush=True)


if __name__ == "__main__":
    main()
