"""Measure the speed of the reader relative to a bare forward pass, and how long its weights take to load.

    RAMIFY_DATA=… python plugins/lab/benchmarks/reader_speed.py
    RAMIFY_DATA=… OMP_NUM_THREADS=1 python plugins/lab/benchmarks/reader_speed.py --batched

Bare: the network alone, on the same pairs, cut into word pieces beforehand; one by one, as the reader reads them, or the passages of a
question in one batch. Alone and warm; ratios of one run count. --batched: what a question costs, in seconds of the processor, when its
passages are read one by one and when those of equal length (as it is rounded up) are read together, and how far what is read differs;
on the demo's questions and on those of a manual, with the five passages that are found for each.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[3]))  # training/ is beside this folder, and not installed

from plugins.embedded.training.source import load_data_folder
from ramify.embedded.reader.reading import (
    BATCH_LENGTH_STEP,
    SMALL,
    PassageReading,
    add_title,
    collate_pairs,
    encode_pairs,
    read_context,
    read_contexts,
    read_pairs,
)
from ramify.lab.load import load_demo
from ramify.tools.demo import demo_index
from ramify.tools.embeddings import load_encoder
from ramify.tools.index import Index

PASSAGES = 5


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def questions(data: Path, count: int) -> list[tuple[str, tuple[str, ...]]]:
    """Return questions, each with the next passages of the pool."""
    folder = load_data_folder(data / "2wikimultihopqa")
    passages = itertools.cycle(add_title(document.title, document.text) for document in folder.documents.values())
    return [(item["question"], tuple(itertools.islice(passages, PASSAGES))) for item in folder.questions[:count]]


def time_forward(asked: Sequence[tuple[str, tuple[str, ...]]], together: bool) -> Callable[[], None]:
    network = SMALL.load()
    cut = [encode_pairs([question] * len(contexts), contexts) for question, contexts in asked]
    ready = [collate_pairs(some) for own in cut for some in ([own] if together else [[pair] for pair in own])]

    def run() -> None:
        with torch.inference_mode():
            for some in ready:
                network(some)

    return run


def time_reading(asked: Sequence[tuple[str, tuple[str, ...]]]) -> Callable[[], None]:
    def run() -> None:
        read_context.cache_clear()
        for question, contexts in asked:
            read_contexts(question, contexts)

    return run


def search_passages(index: Index, asked: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return questions with the passages found for them."""
    contexts = [tuple(add_title(hit.metadata.get("title"), hit.text) for hit in some) for some in index.search(asked, k=PASSAGES)]
    return list(zip(asked, contexts, strict=True))


def in_buckets(question: str, contexts: Sequence[str], together: bool) -> list[PassageReading]:
    """Read a question in contexts: those of equal length together, or each alone."""
    cut = encode_pairs([question] * len(contexts), contexts)
    buckets: dict[int, list[int]] = {}
    for place, pair in enumerate(cut):
        buckets.setdefault(-(-len(pair) // BATCH_LENGTH_STEP) if together else -place, []).append(place)
    read = {}
    for places in buckets.values():
        read |= dict(zip(places, read_pairs(SMALL.load(), [cut[place] for place in places]), strict=True))
    return [read[place] for place in range(len(cut))]


def numbers(reading: PassageReading) -> tuple[float, ...]:
    return (reading.span, reading.yes, reading.no, reading.relevance, *(spot.probability for spot in reading.text_spans))


def compare(name: str, asked: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    """Print what reading in batches saves, and what it changes."""
    took, read = {}, {}
    for together in (False, True, False, True):  # the first of each warms up
        began = time.process_time()
        read[together] = [reading for question, contexts in asked for reading in in_buckets(question, contexts, together)]
        took[together] = (time.process_time() - began) / len(asked)
    both = list(zip(read[False], read[True], strict=True))
    places = sum([spot.start for spot in one.text_spans] != [spot.start for spot in other.text_spans] for one, other in both)
    difference = max(abs(a - b) for one, other in both for a, b in zip(numbers(one), numbers(other), strict=False))
    saved = 1 - took[True] / took[False]
    print(f"{name}: {len(asked)} questions, {took[False]:.3f} s each one by one, {took[True]:.3f} s in batches ({saved:.1%} less)")
    print(f"  greatest difference of a probability {difference:.6f}; other spans in {places} of {len(both)} passages")


def compare_batches(data: Path, count: int) -> None:
    print(f"in {SMALL.load().span.weight.dtype}".replace("torch.", ""))
    compare("demo", search_passages(Index.open(demo_index()), [question.question for question in load_demo("demo").questions[:count]]))
    manual = data / "faa_ac43_13_1b"
    with tempfile.TemporaryDirectory() as folder:
        Index.build([manual / "corpus.jsonl.gz"], folder)
        compare("manual", search_passages(Index.open(folder), [row["question"] for row in load_data_folder(manual).questions[:count]]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the reader's speed.")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--batched", action="store_true", help="compare passages read one by one and in batches")
    arguments = parser.parse_args()
    if arguments.batched:
        compare_batches(Path(os.environ["RAMIFY_DATA"]), arguments.questions)
        return
    encoder = seconds(lambda: load_encoder("minilm").encode_queries(["warm"]))
    network = seconds(lambda: read_contexts("Who?", ("warm",)))
    print(f"loaded, and read for the first time: encoder {encoder:.2f} s, then the reader {network:.2f} s: {network / encoder:.2f} of it")
    asked = questions(Path(os.environ["RAMIFY_DATA"]), arguments.questions)
    works = time_forward(asked, together=False), time_forward(asked, together=True), time_reading(asked)
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
