"""Draw small pools from data sets: some questions, and so many paragraphs that hold all of their gold ones and others drawn by chance.

    python plugins/lab/benchmarks/pools.py DATA/2wikimultihopqa DATA/musique DATA/hotpotqa --out build/pools
    ramify eval build/pools/2wikimultihopqa build/pools/musique build/pools/hotpotqa --strategy naive,prune --model extractive --out RUN

An evaluation on them takes minutes where that on the whole sets takes hours.
"""

import argparse
import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def main() -> None:
    """Write a folder for each data set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="+", help="folders with corpus.jsonl.gz and questions.jsonl.gz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--paragraphs", type=int, default=2500)
    parser.add_argument("--questions", type=int, default=120)
    parser.add_argument("--seed", type=int, default=25)
    arguments = parser.parse_args()
    for folder in arguments.sets:
        asked, pool = draw_pool(read(folder / "questions.jsonl.gz"), read(folder / "corpus.jsonl.gz"), arguments)
        target = arguments.out / folder.name
        target.mkdir(parents=True, exist_ok=True)
        write(target / "questions.jsonl.gz", asked)
        write(target / "corpus.jsonl.gz", pool)
        print(f"{target}: {len(asked)} questions, {len(pool)} paragraphs")


def draw_pool(questions: list[Row], corpus: list[Row], arguments: argparse.Namespace) -> tuple[list[Row], list[Row]]:
    """Draw questions, and a pool that holds what they need."""
    choose = random.Random(arguments.seed)
    asked = choose.sample(questions, min(arguments.questions, len(questions)))
    needed = {document["doc_id"] for question in asked for document in question["supporting"]}
    gold = [document for document in corpus if document["id"] in needed]
    others = [document for document in corpus if document["id"] not in needed]
    more = choose.sample(others, min(len(others), max(0, arguments.paragraphs - len(gold))))
    return asked, sorted(gold + more, key=lambda document: str(document["id"]))


def read(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(path: Path, rows: Iterable[Row]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
