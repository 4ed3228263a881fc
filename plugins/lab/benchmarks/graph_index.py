"""Measure the graph that rules make on top of an index: its build, an update, the size of its reports, a search along it.

    RAMIFY_DATA=… OMP_NUM_THREADS=2 python plugins/lab/benchmarks/graph_index.py [CORPUS] [--limit 3000]

CORPUS is a folder in RAMIFY_DATA, or any other, that holds `corpus.jsonl.gz`; its questions are searched. All is done in this process, one
after the other: a plain build from nothing and the graph on top of it, both without one document in a hundred, and both again with all of
them. The figures are ratios and shares; exits 1 where a target is missed.
"""

import argparse
import gzip
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, TypeVar

import torch

from ramify.kinds.building import build_graph
from ramify.kinds.knowledge.build import GraphBuild
from ramify.kinds.knowledge.index import GraphView
from ramify.lab.inspection.contents import inspect_index
from ramify.lab.inspection.description import PAPER_SHARES
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import View
from ramify.tools.search.searcher import open_index

TOTAL, REWRITTEN, ROOT = 1.25, 0.15, 0.05
HELD_OUT = 100
"""One of this many documents comes with the update."""
QUESTIONS, TURNS = 40, 5
VIEWS: tuple[View, ...] = ("flat", "auto")
Value = TypeVar("Value")


class Timing(NamedTuple):
    """Seconds on the clock, and of the processor."""

    wall: float
    processor: float


class Round(NamedTuple):
    """A build with the graph on top of it: what both took, and what came of them."""

    plain: Timing
    graph: Timing
    encoded: int
    made: GraphBuild


class SearchTimes(NamedTuple):
    """Seconds a search by view, and of the first one along the graph, which reads it."""

    usual: dict[View, float]
    first: float


def measure_time(work: Callable[[], Value]) -> tuple[Value, Timing]:
    began, spent = time.perf_counter(), processor()
    done = work()
    return done, Timing(time.perf_counter() - began, processor() - spent)


def processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def lines_of(path: Path, limit: int | None = None) -> list[str]:
    """Read the first lines of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as source:
        return list(itertools.islice(source, limit))


def build(records: Sequence[str], corpus: Path, folder: Path, encoder: Encoder) -> Round:
    """Index records, then make the graph, or bring both up to date."""
    corpus.write_text("".join(records), encoding="utf-8")
    built, plain = measure_time(lambda: Index.build([corpus], folder, encoder))
    (made, _), graph = measure_time(lambda: build_graph(folder))
    return Round(plain, graph, built.encoded, made)


def time_searches(folder: Path, questions: Sequence[str]) -> SearchTimes:
    """Search for each question alone, in one thread, which a short text is encoded by soonest on a busy machine.

    The views take turns, the fastest of each question's counts.
    """
    torch.set_num_threads(1)
    index = open_index(folder)
    index.search(questions[:1], view="flat")
    _, first = measure_time(lambda: index.search(questions[:1], view="auto"))

    def seconds(question: str, view: View) -> float:
        return measure_time(lambda: index.search([question], view=view))[1].wall

    turns = [[{view: seconds(question, view) for view in VIEWS} for _ in range(TURNS)] for question in questions]
    return SearchTimes({view: fmean(min(turn[view] for turn in own) for own in turns) for view in VIEWS}, first.wall)


def verdict(figure: float, target: float) -> str:
    return f"target <= {target:g} {'reached' if figure <= target else 'missed'}"


def show_build(rounds: Round) -> int:
    """Print what the graph adds to a build from nothing; count the targets missed."""
    plain, graph, made = rounds.plain, rounds.graph, rounds.made
    total = (plain.wall + graph.wall) / plain.wall
    work = (plain.processor + graph.processor) / plain.processor
    print(
        f"{rounds.encoded} passages, {made.names} names, {made.edges} connections, {made.communities} communities in {made.levels} levels"
    )
    print(f"plain build       {plain.wall:8.2f} s  {plain.processor:8.2f} s of the processor")
    print(f"graph on top      {graph.wall:8.2f} s  {graph.processor:8.2f} s of the processor  {rounds.encoded / graph.wall:.0f} passages/s")
    print(f"both over plain   {total:8.3f}    {work:8.3f}    {verdict(total, TOTAL)}")
    return total > TOTAL


def show_update(first: Round, again: Round) -> int:
    """Print what an update rewrites and takes; count the targets missed."""
    made = again.made
    share = made.rewritten / made.communities
    print(f"update            {again.encoded} passages encoded, {made.new_edges:.1%} of the connections new")
    print(f"reports rewritten {share:8.3f}    {made.rewritten} of {made.communities}    {verdict(share, REWRITTEN)}")
    graph, plain = (after.wall / before.wall for after, before in ((again.graph, first.graph), (again.plain, first.plain)))
    print(f"graph, again      {graph:8.3f}    of its first build; plain {plain:.3f}")
    return share > REWRITTEN


def show_tokens(inside: GraphView) -> int:
    """Print the tokens of reports level by level; count the targets missed."""
    print(f"{'level':<8}{'communities':>12}{'tokens':>12}{'of the text':>13}{'the paper':>12}")
    for level in inside.levels:
        values = verdict(level.share, ROOT) if level.number == 0 else ""
        paper = PAPER_SHARES.get(level.number, "-").replace("–", "-")
        print(f"C{level.number:<7}{level.communities:>12}{level.tokens:>12}{level.share:>13.3f}{paper:>12}  {values}".rstrip())
    print(f"{'TS':<8}{'':>12}{inside.tokens:>12}{1:>13.3f}")
    return inside.levels[0].share > ROOT


def show_searched(times: SearchTimes) -> None:
    flat, auto = (1000 * times.usual[view] for view in VIEWS)
    print(f"a search, flat    {flat:8.2f} ms")
    print(f"a search, auto    {auto:8.2f} ms  {auto / flat:.3f} of flat; the first one reads the names: {1000 * times.first:.0f} ms")


def main() -> int:
    """Measure a corpus; return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default="multihop_rag", metavar="CORPUS")
    parser.add_argument("--limit", type=int, help="documents to index (default: all)")
    options = parser.parse_args()
    source = Path(os.environ.get("RAMIFY_DATA", "")) / options.corpus
    if not (source / "corpus.jsonl.gz").is_file():
        sys.exit(f"there is no corpus.jsonl.gz in {source}: set RAMIFY_DATA to the folder that holds the corpora, or give one")
    records = lines_of(source / "corpus.jsonl.gz", options.limit)
    questions = [json.loads(line)["question"] for line in lines_of(source / "questions.jsonl.gz", QUESTIONS)]
    encoder = load_encoder("minilm")
    encoder.encode_documents(["warm up"] * 64)
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name) / "index", Path(name) / "corpus.jsonl"
        earlier = [record for number, record in enumerate(records) if number % HELD_OUT != HELD_OUT // 2]
        print(f"{options.corpus}: {len(earlier)} documents, then {len(records)}")
        first = build(earlier, corpus, folder, encoder)
        missed = show_build(first)
        missed += show_update(first, build(records, corpus, folder, encoder))
        inside = inspect_index(open_index(folder)).graph
        assert inside is not None
        missed += show_tokens(inside)
        show_searched(time_searches(folder, questions))
    print("targets missed:", missed)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
