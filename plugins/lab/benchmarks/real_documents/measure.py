"""Measure search and answers on real manuals.

    python plugins/lab/benchmarks/real_documents/measure.py --split development --label before
    python plugins/lab/benchmarks/real_documents/measure.py --split development --label after --no-answers --search fetch_k=200

Gets the manuals where they are not there (corpus.py), brings an index of them up to date, searches, asks, and writes one JSON line a
question and strategy. `table.py` prints several such files side by side. To measure an older state of the code, put its checkout first
in PYTHONPATH and name another --index.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[4]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.real_documents.answering import answer_all
from plugins.lab.benchmarks.real_documents.corpus import cache_folder, fetch
from plugins.lab.benchmarks.real_documents.questions import SPLITS, Question, load
from plugins.lab.benchmarks.real_documents.searching import search_all
from plugins.lab.benchmarks.real_documents.table import read_run, table
from ramify.tools.errors import RamifyError
from ramify.tools.index import Index
from ramify.tools.search.searcher import open_index


def build(corpus: Path, folder: Path, clean: bool) -> None:
    """Bring the index of the manuals up to date."""
    began = time.perf_counter()
    built = Index.build([corpus], folder) if clean else Index.build([corpus], folder, clean=False)  # older versions do not clean
    print(f"{built}\nindexed in {time.perf_counter() - began:.1f} s", file=sys.stderr)


def measure(options: argparse.Namespace, questions: Sequence[Question]) -> Iterator[dict[str, Any]]:
    """Search and ask; return the lines."""
    yield from search_all(open_index(str(options.index)), questions, dict(options.search))
    settings = {"model": options.model, **dict(options.set)}
    for strategy in () if options.no_answers else options.strategy.split(","):
        yield from answer_all(str(options.index), questions, strategy, settings)


def write(lines: Iterable[dict[str, Any]], head: dict[str, str], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        for number, line in enumerate(lines, 1):
            file.write(json.dumps({**head, **line}, ensure_ascii=False) + "\n")
            file.flush()
            if not number % 20:
                print(f"{number} lines", file=sys.stderr)


def pair(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE; a value that is no JSON is a text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def arguments() -> argparse.Namespace:
    cache = cache_folder()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=SPLITS, default="development")
    parser.add_argument("--label", default="run", help="the run's name in tables")
    parser.add_argument("--cache", type=Path, default=cache, help="where the manuals are kept (default: %(default)s)")
    parser.add_argument("--index", type=Path, default=cache / "index", help="the index to bring up to date (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="the file of lines (default: in the cache, by label and split)")
    parser.add_argument("--strategy", default="naive,prune")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--set", type=pair, action="append", default=[], metavar="KEY=VALUE", help="a setting of the strategies")
    parser.add_argument("--search", type=pair, action="append", default=[], metavar="KEY=VALUE", help="an option of Index.search")
    parser.add_argument("--no-answers", action="store_true", help="measure the search alone")
    parser.add_argument(
        "--no-clean", action="store_true", help="make an index in which everything is searched; return it an --index of its own"
    )
    parser.add_argument("--no-build", action="store_true", help="take the index as it is")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    out = given.out or given.cache / "runs" / f"{given.label}-{given.split}.jsonl"
    try:
        if not given.no_build:
            build(fetch(given.cache.expanduser().resolve()), given.index, not given.no_clean)
        write(measure(given, load([given.split])), {"label": given.label, "split": given.split}, out)
    except RamifyError as error:
        sys.exit(f"error: {error}")
    print(f"{out}\n\n{table([read_run(out)])}")


if __name__ == "__main__":
    main()
