"""Run work in a forked child, which has all modules loaded and no threads; report the points it reaches, so that it can be killed there."""

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

from ramify.lab.task import ResultLog
from tests.tools.fakes import WordEncoder

PointCallback = Callable[[str], None]
"""Called with the name of each point that is reached."""


class ChildResult(NamedTuple):
    """The value of a child, or its error, and whether it was killed."""

    value: Any = None
    wrong: str = ""
    killed: bool = False


def run_in_child(work: Callable[[], Any]) -> ChildResult:
    """Run work in a child process; its value must be serializable as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            try:
                pipe.write(json.dumps({"value": work()}))
            except BaseException:  # noqa: BLE001  # reported to the parent
                pipe.write(json.dumps({"wrong": traceback.format_exc()[-3000:]}))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        reply = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGKILL:
        return ChildResult(killed=True)
    return ChildResult(**json.loads(reply)) if reply else ChildResult(wrong=f"the process ended with {code}")


def kill_self() -> None:
    """Kill this process immediately."""
    os.kill(os.getpid(), signal.SIGKILL)


def report_points(reached: PointCallback, calls: bool) -> None:
    """Report each point reached from now on: encoded texts, transactions, syncs, renames, and with `calls` each call of the toolkit."""
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
