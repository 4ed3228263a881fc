"""Results as JSON lines, one per question and variant, written so that a killed run loses none."""

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
"""Called with each line as it is written."""


def key_of(dataset: str, strategy: str, variant: str, question: str) -> str:
    """Return the key of a line: data set, strategy, variant and question."""
    return f"{dataset}|{strategy}|{variant}|{question}"


def read_rows(file: Path) -> list[Row]:
    """Return the lines, the last of each key."""
    return list({row["key"]: row for row in iter_rows(file)}.values())


def read_outcomes(file: Path) -> dict[str, Row]:
    """Return only the outcome of each line, by key: the trees of a long run are large."""
    return {row["key"]: {name: row[name] for name in NEEDED} for row in iter_rows(file)}


def iter_rows(file: Path) -> Iterator[Row]:
    """Yield every line, also ones that a later one replaces; an incomplete last line is skipped.

    InputError for an invalid line.
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
    """Append lines to a file, flushing each; InputError if the disk is full.

    One writer at a time: UsageError if another run holds the lock, which ends with the process.
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
    """Remove an incomplete last line."""
    with file.open("rb+") as lines:
        size = lines.seek(0, os.SEEK_END)
        if not size:
            return
        lines.seek(size - 1)
        if lines.read(1) != b"\n":
            lines.seek(0)
            lines.truncate(lines.read(size).rfind(b"\n") + 1)
