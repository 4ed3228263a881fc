"""Measure the hierarchy on top of an index, without a language model: its build, an update, a search by way of groups.

    RAMIFY_DATA=… OMP_NUM_THREADS=2 python plugins/lab/benchmarks/hierarchy_index.py [CORPUS] [--group-by chapter,section] [--limit 3000]

CORPUS is a folder in RAMIFY_DATA, or any other, that holds `corpus.jsonl.gz` and `questions.jsonl.gz`. All is done in this process, one
after the other: a plain build from nothing and the hierarchy on top of it, both without one document in a hundred, then both again with
all of them. The figures are ratios and shares.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[3]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.graph_index import HELD_OUT, QUESTIONS, Timing, lines_of, measure_time, time_searches
from ramify.kinds.building import build_hierarchy
from ramify.kinds.hierarchy.build import HierarchyBuild
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.index import Index


class Round(NamedTuple):
    """A build with the hierarchy on top of it: what both took, and what came of them."""

    plain: Timing
    own: Timing
    encoded: int
    made: HierarchyBuild


def build(records: list[str], corpus: Path, folder: Path, encoder: Encoder, fields: list[str]) -> Round:
    """Index records, then make the hierarchy, or bring both up to date."""
    corpus.write_text("".join(records), encoding="utf-8")
    built, plain = measure_time(lambda: Index.build([corpus], folder, encoder))
    (made, _), own = measure_time(lambda: build_hierarchy(folder, group_by=fields, embedding=encoder))
    return Round(plain, own, built.encoded, made)


def show(what: str, measured: Round) -> None:
    made = measured.made
    print(f"{what}: {measured.encoded} passages encoded, {made.groups} groups, {made.nodes} summaries, {made.rebuilt_trees} trees grown")
    print(f"  plain           {measured.plain.wall:8.2f} s")
    print(f"  hierarchy       {measured.own.wall:8.2f} s  {measured.own.wall / measured.plain.wall:.2f} of plain")


def main() -> None:
    """Measure a corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default="faa_ac43_13_1b", metavar="CORPUS")
    parser.add_argument("--group-by", default="chapter,section", metavar="F,G")
    parser.add_argument("--limit", type=int, help="documents to index (default: all)")
    options = parser.parse_args()
    source = Path(os.environ.get("RAMIFY_DATA", "")) / options.corpus
    if not (source / "corpus.jsonl.gz").is_file():
        sys.exit(f"there is no corpus.jsonl.gz in {source}: set RAMIFY_DATA to the folder that holds the corpora, or give one")
    records, fields = lines_of(source / "corpus.jsonl.gz", options.limit), options.group_by.split(",")
    questions = [json.loads(line)["question"] for line in lines_of(source / "questions.jsonl.gz", QUESTIONS)]
    encoder = load_encoder("minilm")
    encoder.encode_documents(["warm up"] * 64)
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name) / "index", Path(name) / "corpus.jsonl"
        earlier = [record for number, record in enumerate(records) if number % HELD_OUT != HELD_OUT // 2]
        show("from nothing", first := build(earlier, corpus, folder, encoder, fields))
        show("update", again := build(records, corpus, folder, encoder, fields))
        print(f"  hierarchy       {again.own.wall / first.own.wall:8.2f} of its first build")
        times = time_searches(folder, questions)
        flat, auto = 1000 * times.usual["flat"], 1000 * times.usual["auto"]
        print(f"a search: flat {flat:.2f} ms, by way of groups {auto:.2f} ms, {auto / flat:.2f} of flat")


if __name__ == "__main__":
    main()
