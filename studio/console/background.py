"""Completing a new index in the background: the command returns when its documents can be searched by words."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from ramify.studio.console.building import remark_lines, skipped_lines
from ramify.studio.console.streams import note, say
from ramify.tools.errors import IndexingError
from ramify.tools.index.file_list import read_file_list
from ramify.tools.index.folder import BACKGROUND_LOG, is_being_written
from ramify.tools.index.index_writer import BATCH_SIZE
from ramify.tools.index.manifest import read_unfinished
from ramify.tools.index.progress import PassagesStored, Progress
from ramify.tools.quoting import one_line, pluralize

_START_S = 20.0
"""Seconds in which the process in the background has started."""
_NICENESS = 10
"""Priority of the process in the background: questions come first."""


def stop_when_stored(progress: Progress) -> Progress:
    """Return a progress callback that stops a build of more than one batch of vectors before the first, by PassagesStored."""

    def stopping(done: int, total: int | None, unit: str) -> None:
        progress(done, total, unit)
        if unit == "passages" and total is not None and total > BATCH_SIZE:
            raise PassagesStored

    return stopping


def _waiting(arguments: list[str]) -> list[str]:
    """Return the arguments of `ramify index` with --wait."""
    place = arguments.index("index") + 1
    return [*arguments[:place], "--wait", *(argument for argument in arguments[place:] if argument != "--no-wait")]


def complete_in_background(folder: Path, verbose: bool) -> None:
    """Start this command again in the background, to compute the vectors, and print what can be asked already."""
    manifest = read_unfinished(folder)
    assert manifest is not None  # written before the build was stopped
    with (folder / BACKGROUND_LOG).open("wb") as log:
        program = "from ramify.studio.entry import main; main()"
        command = [sys.executable, "-P", "-c", program, *_waiting(sys.argv[1:])]  # -P: imports nothing from the current folder
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    with suppress(AttributeError, OSError):  # not on Windows
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
    began = time.monotonic()
    try:
        while process.poll() is None and not is_being_written(folder) and time.monotonic() - began < _START_S:
            time.sleep(0.1)
    except KeyboardInterrupt:
        process.terminate()
        raise
    if process.poll():
        what = f"computing the meanings in the background ended with exit status {process.returncode}"
        raise IndexingError(what, f"read {str(folder / BACKGROUND_LOG)!r}, or run the command with --wait")
    say(
        f"{one_line(folder)}: {pluralize(manifest.files, 'file')}, {pluralize(manifest.passages, 'passage')}, searched by words while "
        f"their meanings are computed in the background (process {process.pid})"
    )
    listed = read_file_list(folder)
    remarks = [(file.source, remark) for file in listed.files for remark in file.remarks]
    for line in (*skipped_lines(listed.unread, verbose), *remark_lines(remarks, verbose)):
        note(line)
    note(f'ask now: ramify ask "…" --index {one_line(folder)}')
