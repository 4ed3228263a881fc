"""Work in a child of this process, which has all modules loaded and no threads: what it gives back, how it ended; dying at a point."""

import json
import os
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from ramify.evaluation.task import ResultLog
from tests.tools.fakes import WordEncoder

Reached = Callable[[str], None]
"""Called with the name of each point that work comes to."""


class Ended(NamedTuple):
    """How a child ended: its value, or what went wrong; by which signal."""

    value: Any = None
    wrong: str = ""
    killed: bool = False


def in_child(work: Callable[[], Any]) -> Ended:
    """Do work in a child; its value must be JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            try:
                pipe.write(json.dumps({"value": work()}))
            except BaseException:  # noqa: BLE001  # whatever it is, this process hears of it
                pipe.write(json.dumps({"wrong": traceback.format_exc()[-3000:]}))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGKILL:
        return Ended(killed=True)
    return Ended(**json.loads(told)) if told else Ended(wrong=f"the process ended with {code}")


def die() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def telling(reached: Reached, calls: bool) -> None:
    """From here on, tell each point that is reached: texts encoded, transactions, syncs, renames, and with `calls` calls of the toolkit."""
    replace, fsync, connect, encode, write = Path.replace, os.fsync, sqlite3.connect, WordEncoder.encode_documents, ResultLog.write

    def replacing(self: Path, target: Any) -> Path:
        name = "a draft" if Path(target).name.startswith(".") else Path(target).name
        reached(f"before the rename to {name}")
        done = replace(self, target)
        reached(f"after the rename to {name}")
        return done

    def syncing(handle: int) -> None:
        reached("before a sync")
        fsync(handle)

    def connecting(*given: Any, **how: Any) -> sqlite3.Connection:
        database = connect(*given, **how)
        database.set_trace_callback(lambda sql: reached("before a commit") if sql.startswith("COMMIT") else None)
        return database

    def encoding(self: WordEncoder, texts: Any, prefix: Any = None) -> Any:
        reached("while texts are encoded")
        return encode(self, texts, prefix)

    def writing(self: ResultLog, rows: Any) -> None:
        reached("before a row is written")
        write(self, rows)
        reached("after a row is written")

    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and "/ramify/" in frame.f_code.co_filename:
            reached("in a call")

    Path.replace, os.fsync, sqlite3.connect = replacing, syncing, connecting  # type: ignore[method-assign,assignment]
    WordEncoder.encode_documents, ResultLog.write = encoding, writing  # type: ignore[method-assign]
    if calls:
        sys.setprofile(profile)
