"""Results as lines, one JSON object a question and variant: named, read, and written such that a killed run has lost nothing of them."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ramify.tools.errors import InputError, UsageError
from ramify.tools.new_files import make_file, make_folder, remedy_for
from ramify.tools.scrub import without_known

try:
    import fcntl
except ImportError:  # there is none on Windows: there, two runs in one folder are not told of each other
    fcntl = None  # type: ignore[assignment]

RESULTS = "results.jsonl"
NEEDED = ("key", "strategy", "variant", "error", "em")
Row = dict[str, Any]
Watch = Callable[[Row], None]
"""Is shown each line as it is written."""


def key_of(dataset: str, strategy: str, variant: str, question: str) -> str:
    """Name a line: one question of one data set under one variant of one strategy."""
    return f"{dataset}|{strategy}|{variant}|{question}"


def read_rows(file: Path) -> list[Row]:
    """Read the lines, the last of each key."""
    return list({row["key"]: row for row in each_row(file)}.values())


def outlines(file: Path) -> dict[str, Row]:
    """Read of each line no more than how it went: the trees of a long run are many."""
    return {row["key"]: {name: row[name] for name in NEEDED} for row in each_row(file)}


def each_row(file: Path) -> Iterator[Row]:
    """Read line by line, also lines that a later one replaces; one that was being written when the run was killed is left out.

    InputError for what is no result.
    """
    if not file.exists():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            yield _row(line, f"line {number} of {str(file)!r}")


def _row(line: bytes, place: str) -> Row:
    remedy = "take the line out, or start over with another --out"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is no result ({error})", remedy) from error
    if missing := [name for name in NEEDED if not isinstance(row, dict) or name not in row]:
        raise InputError(f"{place} is no result: it has no {missing[0]!r}", remedy)
    found: Row = row
    return found


class Log:
    """Append lines to a file, each handed to the system before the next; InputError where the disk is full.

    One writer at a time: UsageError where another run is at work. The hold ends with the process, however that ends.
    """

    def __init__(self, file: Path) -> None:
        self._path = file

    def __enter__(self) -> Self:
        make_folder(self._path.parent)
        try:
            self._file = make_file(self._path).open("a", encoding="utf-8", errors="replace")
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            _hold(self._file, self._path.parent)
            _cut_half_a_line(self._path)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._file.close()
        except OSError:
            if error is None:
                raise

    def write(self, rows: Iterable[Row]) -> None:
        """Append rows."""
        try:
            self._file.write("".join(json.dumps(without_known(row), ensure_ascii=False) + "\n" for row in rows))
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> InputError:
        remedy = remedy_for(error, "see that it can be written, then run the command again: it goes on where it stopped", kept=True)
        return InputError(f"cannot write to {str(self._path)!r} ({error.strerror or error})", remedy)


def _hold(file: IO[str], folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"another run is writing to {str(folder)!r}", "wait until it has ended, or give --out another folder") from error


def _cut_half_a_line(file: Path) -> None:
    """Take away what a killed run had only half written."""
    with file.open("rb+") as lines:
        size = lines.seek(0, os.SEEK_END)
        if not size:
            return
        lines.seek(size - 1)
        if lines.read(1) != b"\n":
            lines.seek(0)
            lines.truncate(lines.read(size).rfind(b"\n") + 1)
