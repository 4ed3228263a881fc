"""Fit the confidence of lines quoted for how-to and list questions: `python -m plugins.embedded.training.listed DATA [--limit 200]`.

DATA is a folder with `techdocs_spans` and `office_spans`. Each question is given its passage and the four others that share most words
with it, and those four alone. What is quoted is right where its words and those of the sentences that were marked by hand have an F1 of
.5 at least.
"""

import argparse
import gzip
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ramify.embedded.extractive.quotations import score_passages
from ramify.embedded.reader.reading import PassageText
from ramify.tools.english import content_stems

FOLDERS = ("techdocs_spans", "office_spans")
CHARS_BEFORE, PASSAGE_CHARS, PASSAGES = 500, 1600, 5
MIN_RIGHT_F1 = 0.5


def read_records_gz(path: Path) -> list[dict[str, Any]]:
    """Return the records of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def load_cases(folder: Path) -> Iterator[tuple[str, list[PassageText], list[str]]]:
    """Yield each question with passages, the right one among them, and the sentences that answer it."""
    corpus = read_records_gz(folder / "corpus.jsonl.gz")
    words = [content_stems(f"{document['title']} {document['text']}") for document in corpus]
    counts = Counter(word for some in words for word in some)
    for asked in read_records_gz(folder / "questions.jsonl.gz"):
        if asked["type"] not in ("how_to", "list"):
            continue
        gold, sentences, about = asked["supporting"][0]["doc_id"], asked["metadata"]["sentences"], content_stems(asked["question"])
        worth = [sum(math.log(len(corpus) / counts[word]) for word in about & some) / (1 + len(some) ** 0.3) for some in words]
        order = sorted(range(len(corpus)), key=lambda place: (corpus[place]["id"] != gold, -worth[place]))
        start = max(0, min(sentence["start"] for sentence in sentences) - CHARS_BEFORE)
        begins = [start if corpus[place]["id"] == gold else 0 for place in order[:PASSAGES]]
        texts = [corpus[place]["text"][begin : begin + PASSAGE_CHARS] for place, begin in zip(order, begins, strict=False)]
        quotes = [PassageText(title=corpus[place]["title"], source="", text=text) for place, text in zip(order, texts, strict=False)]
        yield asked["question"], quotes, [sentence["text"] for sentence in sentences]


def word_f1(quoted: list[str], wanted: list[str]) -> float:
    """Return the F1 of the words of two lists of lines."""
    one, other = (Counter(re.findall(r"\w+", " ".join(lines).lower())) for lines in (quoted, wanted))
    shared = (one & other).total()
    return 2 * shared / (one.total() + other.total()) if shared else 0.0


def fit_logistic(worth: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Fit bias and slope by gradient descent."""
    bias, slope = 0.0, 0.0
    for _ in range(20_000):
        error = 1 / (1 + np.exp(-bias - slope * worth)) - right
        bias, slope = bias - 0.5 * float(error.mean()), slope - 0.5 * float((error * worth).mean())
    return bias, slope


def main() -> None:
    """Print the fitted constants and the number of questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=200)
    given = parser.parse_args()
    cases = [case for name in FOLDERS for case in load_cases(given.data / name)]
    random.Random(0).shuffle(cases)
    worth, right = [], []
    for question, passages, wanted in cases[: given.limit]:
        for some in (passages, passages[1:]):  # with the right passage, which is the first, and without it: then nothing is right
            best = max(score_passages(question, some), key=lambda section: section.worth, default=None)
            if best is not None:
                worth.append(best.worth)
                right.append(len(some) == len(passages) and word_f1(best.best_lines(), wanted) >= MIN_RIGHT_F1)
    bias, slope = fit_logistic(np.array(worth), np.array(right, dtype=float))
    there = right[::2]
    print(f"{len(there)} questions, {100 * np.mean(there):.0f} % right where the passage is there; bias {bias:.2f}, slope {slope:.2f}")


if __name__ == "__main__":
    main()
