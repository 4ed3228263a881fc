"""Measure how well the reader tells passages that support a claim from others of the same article: `python
plugins/lab/benchmarks/support.py DATA`.

DATA is a folder with `fool_me_twice` (Eisenschlos et al. 2021). The figure is the share of pairs of a supporting and another passage in
which the reader's relevance is higher for the supporting one (AUROC), over the first claims in an order drawn with a fixed seed.
"""

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

from ramify.embedded.reader.reading import add_title, read_context


def read(path: Path) -> list[dict[str, Any]]:
    """Read a packed file of records."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def auroc(first: list[float], second: list[float]) -> float:
    """Return the share of pairs in which the first is greater; ties count half."""
    return sum((one > other) + (one == other) / 2 for one in first for other in second) / (len(first) * len(second))


def main() -> None:
    """Print the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--claims", type=int, default=500)
    arguments = parser.parse_args()
    folder = arguments.data / "fool_me_twice"
    passages = {document["id"]: add_title(document["title"], document["text"]) for document in read(folder / "corpus.jsonl.gz")}
    claims = read(folder / "questions.jsonl.gz")
    draw = random.Random(1)
    draw.shuffle(claims)
    supporting, others = [], []
    for claim in claims[: arguments.claims]:
        wrong = [negative for negative in claim["metadata"]["negatives"] if negative in passages]
        if claim["answer"] != "yes" or not wrong:
            continue
        supporting.append(read_context(claim["question"], passages[claim["supporting"][0]["doc_id"]]).relevance)
        others.append(read_context(claim["question"], passages[draw.choice(wrong)]).relevance)
    print(f"{len(supporting)} claims that are supported: AUROC of the reader's relevance {auroc(supporting, others):.3f}")


if __name__ == "__main__":
    main()
