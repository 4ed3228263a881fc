"""Parse files in a process of its own: a line of JSON in names a file, lines of JSON out hold what was in it.

Started as `python -m ramify.tools.documents._parser_process SECONDS MEMORY_MB`. It ends with its parent, which closes its input;
whatever goes wrong in a parser ends it with the reason as the last line on stderr.
"""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.readers import parse_file, reader_of, stream_file

_GRACE_S = 5
"""The parent ends a worker that takes too long; one whose parent is gone ends itself this much later."""
_DEEPEST = 5000
"""Calls within calls: mammoth takes sixteen for a table in a table. The stack of C, which has 8 MB, holds as many."""
_PART = 256
_PART_CHARACTERS = 1 << 20
"""Documents, and characters of them, that are given at once where they are given on the way."""


def main(seconds: float, memory_mb: int) -> None:
    """Answer until there is no more input."""
    if sys.platform == "linux":  # elsewhere the limit cannot be set below what is in use, or is not kept
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    sys.setrecursionlimit(_DEEPEST)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints is no answer
    for line in sys.stdin.buffer:
        _limit_time(seconds + _GRACE_S)
        for answer in answers(json.loads(line)):
            content = json.dumps(answer).encode() + b"\n"
            _limit_time(0)  # how soon it is taken is up to the parent
            out.write(content)
            out.flush()
            _limit_time(seconds + _GRACE_S)
        _limit_time(0)


def _limit_time(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def answers(asked: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Parse the file asked for. Where they come in parts, documents are given on the way; the last answer has the rest and what is told."""
    report = ReadReport()
    file = File(Path(asked["path"]), asked["source"], Path(asked["path"]).parent)
    reader = reader_of(file.path)
    part: list[tuple[str | None, str, dict[str, Any]]] = []
    size = 0
    for document in stream_file(file, report) if reader and reader.in_parts else parse_file(file, report, asked["clean"]):
        part.append((document.id, document.page_content, document.metadata))
        size += len(document.page_content) + sum(len(str(value)) for value in document.metadata.values())
        if reader and reader.in_parts and (len(part) == _PART or size >= _PART_CHARACTERS):
            yield {"documents": part}
            part, size = [], 0
    yield {"documents": part, "skipped": report.skipped, "remarks": report.remarks}


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
