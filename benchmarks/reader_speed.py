"""How much of the speed of a bare forward pass is left when the reader reads, and how long its weights take to load.

    RAMIFY_DATA=… python benchmarks/reader_speed.py

Bare: the network alone, on the same pairs, cut into word pieces beforehand; one by one, as the reader reads them, or the passages of a
question in one batch. Alone and warm; ratios of one run count.
"""

import argparse
import itertools
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent.parent))  # training/ is beside this folder, and not installed

from ramify.tools.embeddings import load_encoder
from ramify.tools.reader.reading import batch, in_context, load_network, pairs, read_context, read_contexts
from training.source import load

PASSAGES = 5


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def questions(data: Path, count: int) -> list[tuple[str, tuple[str, ...]]]:
    """Take questions, each with the next passages of the pool."""
    folder = load(data / "2wikimultihopqa")
    passages = itertools.cycle(in_context(document.title, document.text) for document in folder.documents.values())
    return [(item["question"], tuple(itertools.islice(passages, PASSAGES))) for item in folder.questions[:count]]


def bare(asked: Sequence[tuple[str, tuple[str, ...]]], together: bool) -> Callable[[], None]:
    network = load_network()
    cut = [pairs([question] * len(contexts), contexts) for question, contexts in asked]
    ready = [batch(some) for own in cut for some in ([own] if together else [[pair] for pair in own])]

    def run() -> None:
        with torch.inference_mode():
            for some in ready:
                network(some)

    return run


def reading(asked: Sequence[tuple[str, tuple[str, ...]]]) -> Callable[[], None]:
    def run() -> None:
        read_context.cache_clear()
        for question, contexts in asked:
            read_contexts(question, contexts)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the reader's speed.")
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    import sentence_transformers  # noqa: F401  # what the import takes is no model's

    encoder = seconds(lambda: load_encoder("minilm").encode_queries(["warm"]))
    network = seconds(lambda: read_contexts("Who?", ("warm",)))
    print(f"loaded, and read for the first time: encoder {encoder:.2f} s, then the reader {network:.2f} s: {network / encoder:.2f} of it")
    asked = questions(Path(os.environ["RAMIFY_DATA"]), given.questions)
    works = bare(asked, together=False), bare(asked, together=True), reading(asked)
    for work in works:
        work()
    turns = [tuple(seconds(work) for work in works) for _ in range(3)]
    single, batched, read = (min(turn[number] for turn in turns) for number in range(3))
    count = len(asked) * PASSAGES
    speeds = f"bare {count / single:.0f} a second one by one, {count / batched:.0f} in one batch a question; read {count / read:.0f}"
    print(f"{count} passages: {speeds}")
    print(f"read / bare: {single / read:.3f} of one by one, {batched / read:.3f} of one batch a question")


if __name__ == "__main__":
    main()
