"""Measure how faithfully files are read: by format, the files with words that are missing, new or glued without a remark.

    python plugins/lab/benchmarks/fidelity.py PATH… [--list 20] [--json FILE] [--workers 1] [--seconds 60]

Each file is checked in a worker process with a time limit, so that a bad file costs only itself.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ramify.formats.fidelity.comparing import Difference, check_reading
from ramify.tools.documents.files import list_files
from ramify.tools.documents.readers import find_reader
from ramify.tools.quoting import truncate_line

_CONTEXT = get_context("spawn")
_KINDS = ("missing", "new", "glued")
_SHOWN_WORDS = 8


class Checker:
    """A worker process that checks files one by one, and is replaced if it fails or takes too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start()

    def _start(self) -> None:
        self._pipe, other = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def check(self, path: Path) -> dict[str, Any]:
        """Return what was found in a file, or the error."""
        try:
            self._pipe.send(path)
            if self._pipe.poll(self._seconds):
                return {"file": str(path), **self._pipe.recv()}
            error = f"not checked within {self._seconds:g} s"
        except (EOFError, OSError):
            error = "the worker ended"
        self.close()
        self._start()
        return {"file": str(path), "error": error}

    def close(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(pipe: Connection) -> None:
    while True:
        try:
            pipe.send(_result(pipe.recv()))
        except EOFError:
            return


def _result(path: Path) -> dict[str, Any]:
    try:
        check = check_reading(path)
    except Exception as error:  # noqa: BLE001  # of any kind: the file is reported, and the next one is checked
        return {"error": f"{type(error).__name__}: {error}"}
    differences = {kind: [difference._asdict() for difference in getattr(check, kind)] for kind in _KINDS}
    return {"documents": check.documents, "words": check.words, "remarks": check.remarks, "skipped": check.skipped, **differences}


def check_files(paths: Sequence[Path], workers: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the result of each file, in order."""
    idle = [Checker(seconds) for _ in range(workers)]

    def check(path: Path) -> dict[str, Any]:
        checker = idle.pop()
        try:
            return checker.check(path)
        finally:
            idle.append(checker)

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(check, paths)
    for checker in idle:
        checker.close()


def _format(result: dict[str, Any]) -> str:
    return Path(result["file"].removesuffix(".gz")).suffix.lower()


def _differences(result: dict[str, Any]) -> int:
    return sum(difference["times"] for kind in _KINDS for difference in result.get(kind, ()))


def _table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for result in results:
        groups[_format(result)].append(result)
        groups["all"].append(result)
    yield "| format | files | read | unexplained | share | numbers missing | words missing | new | glued | failed |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for name in sorted(groups, key=lambda name: (name == "all", name)):
        group = groups[name]
        bad = sum(bool(_differences(outcome) or "error" in outcome) for outcome in group)
        lost = [difference for result in group for difference in result.get("missing", ())]
        numbers = sum(difference["times"] for difference in lost if Difference(**difference).is_number)
        counts = (sum(difference["times"] for result in group for difference in result.get(kind, ())) for kind in ("new", "glued"))
        cells = (len(group), sum(outcome.get("documents", 0) > 0 for outcome in group), bad, f"{bad / len(group):.1%}", numbers,
                 sum(word["times"] for word in lost) - numbers, *counts, sum("error" in outcome for outcome in group))  # fmt: skip
        yield f"| {name} | {' | '.join(map(str, cells))} |"


def _worst(results: Sequence[dict[str, Any]], count: int) -> Iterator[str]:
    bad = [result for result in results if _differences(result) or "error" in result]
    for result in sorted(bad, key=_differences, reverse=True)[:count]:
        yield f"\n{result['file']}: {result.get('error') or _differences(result)}"
        for kind in _KINDS:
            differences = sorted(result.get(kind, ()), key=lambda difference: not Difference(**difference).is_number)
            for entry in differences[:_SHOWN_WORDS]:
                instead = f" ({entry['instead']})" if entry["instead"] else ""
                yield f"  {kind} {entry['word']!r} x{entry['times']}{instead} {entry['place']}: {truncate_line(entry['context'], 100)}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    arguments.add_argument("--list", type=int, default=0, metavar="N", help="print the N files with most differences, and their words")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the results of all files")
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=60)
    options = arguments.parse_args()
    paths = [file.path for file in list_files(options.paths, []) if find_reader(file.path) and file.path.is_file()]
    if not paths:
        raise SystemExit("nothing to read there")
    results = list(check_files(paths, options.workers, options.seconds))
    print("\n".join([*_table(results), *_worst(results, options.list)]))
    if options.json:
        options.json.write_text(json.dumps(results, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
