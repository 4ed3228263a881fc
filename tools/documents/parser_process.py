"""Parse files in a process of its own: a line of JSON in names a file, a line of JSON out holds what was in it.

Started as `python -m ramify.tools.documents.parser_process SECONDS MEMORY_MB`. It ends with its parent, which closes its input;
whatever goes wrong in a parser ends it with the reason as the last line on stderr.
"""

import json
import signal
import sys
from pathlib import Path
from typing import Any

from ramify.tools.documents.files import File, Told
from ramify.tools.documents.readers import parsed

_GRACE_S = 5
"""The parent ends a worker that takes too long; one whose parent is gone ends itself this much later."""


def main(seconds: float, memory_mb: int) -> None:
    """Answer until there is no more input."""
    if sys.platform == "linux":  # elsewhere the limit cannot be set below what is in use, or is not kept
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints is no answer
    for line in sys.stdin.buffer:
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, seconds + _GRACE_S)
        answers.write(json.dumps(answer(json.loads(line))).encode() + b"\n")
        answers.flush()


def answer(asked: dict[str, Any]) -> dict[str, object]:
    """Parse the file asked for."""
    told = Told()
    file = File(Path(asked["path"]), asked["source"], Path(asked["path"]).parent)
    documents = [[document.id, document.page_content, document.metadata] for document in parsed(file, told, asked["clean"])]
    return {"documents": documents, "skipped": told.skipped, "remarks": told.remarks}


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
