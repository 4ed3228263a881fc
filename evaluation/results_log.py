"""Write results, line by line, such that a run that is killed has lost nothing that was finished."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from ramify.evaluation.rows import Row
from ramify.tools.errors import InputError, UsageError
from ramify.tools.scrub import without_known

try:
    import fcntl
except ImportError:  # there is none on Windows: there, two runs in one folder are not told of each other
    fcntl = None  # type: ignore[assignment]


class Log:
    """Append lines to a file, each handed to the system before the next; InputError where the disk is full.

    One writer at a time: UsageError where another run is at work. The hold ends with the process, however that ends.
    """

    def __init__(self, file: Path) -> None:
        self._path = file

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a", encoding="utf-8")
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
            what = f"cannot write to {str(self._path)!r} ({error.strerror or error})"
            raise InputError(what, "make room and run the command again: it goes on where it stopped") from error


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
