"""Worker processes that parse files side by side: one that hangs, dies or takes more than it may costs its file, by name."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from queue import Queue, SimpleQueue
from threading import Lock, Thread, Timer
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, Skipped, Told

_PARTS = 2
"""Parts of a file that wait to be taken; then its worker waits."""


class Parsed(NamedTuple):
    """Documents of a file, in its last part what was left out of it and what is to be said of it."""

    documents: list[Document]
    skipped: list[Skipped]
    remarks: list[Skipped]


class Limits(NamedTuple):
    """What a worker may use for a file, or a part of one, before it is ended and the file is named."""

    seconds: float = 120
    memory_mb: int = 2048


LIMITS = Limits()
"""The one place where they are set."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def command(limits: Limits) -> list[str]:
    """Return how a worker is started; -P: what lies in the working directory is documents, not modules."""
    return [sys.executable, "-P", "-m", "ramify.tools.documents.parser_process", str(limits.seconds), str(limits.memory_mb)]


class Parsing:
    """A file that a worker parses, now or when it comes to it; what is given of it waits here, within limits, to be taken."""

    def __init__(self, file: File, clean: bool) -> None:
        self.file = file
        self.clean = clean
        self._parts: Queue[Parsed | None] = Queue(_PARTS)
        self._wanted = True

    def documents(self, told: Told) -> Iterator[Document]:
        """Yield the documents; `told` is complete when there are no more. RuntimeError once it is closed."""
        while (part := self._parts.get()) is not None:
            told.skipped += part.skipped
            told.remarks += part.remarks
            yield from part.documents
        if not self._wanted:
            raise RuntimeError(f"the documents of {self.file.source!r} were not taken before the next file was")

    def give(self, part: Parsed | None) -> bool:
        """Have a part taken, None after the last; false where no more is wanted."""
        if self._wanted:
            self._parts.put(part)
        return self._wanted

    def close(self) -> None:
        """Want no more of it."""
        self._wanted = False
        while not self._parts.empty():
            self._parts.get_nowait()
        self._parts.put(None)  # for whoever still reads


class Crew:
    """As many workers as wanted, each started when it is first needed."""

    def __init__(self, size: int, limits: Limits, command: Callable[[Limits], list[str]] = command) -> None:
        self.size = size
        self._limits = limits
        self._command = command
        self._files: SimpleQueue[Parsing | None] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._waiting: set[Parsing] = set()
        self._lock = Lock()

    def parse(self, file: File, clean: bool) -> Parsing:
        """Have a file parsed, and tidied up to have it `clean`, by the next worker that is free."""
        parsing = Parsing(file, clean)
        with self._lock:
            self._waiting.add(parsing)
            wanted = len(self._workers) < min(self.size, len(self._waiting))
        if wanted:
            self._workers.append(_Worker(self._command(self._limits), self._limits))
            Thread(target=self._serve, args=(self._workers[-1],), name="ramify-reading", daemon=True).start()
        self._files.put(parsing)
        return parsing

    def running(self) -> int:
        """Count the processes that are there."""
        return sum(worker.runs() for worker in self._workers)

    def close(self) -> None:
        """End all workers, whatever they are at."""
        with self._lock:
            waiting = list(self._waiting)
        for parsing in waiting:
            parsing.close()
        for worker in self._workers:
            self._files.put(None)
            worker.end()

    def _serve(self, worker: "_Worker") -> None:
        while (parsing := self._files.get()) is not None:
            try:
                with closing(worker.parse(parsing.file, parsing.clean)) as parts:
                    all(parsing.give(part) for part in parts)
            except OSError as error:
                parsing.give(Parsed([], [(parsing.file.source, f"no process to read it in: {error.strerror or error}")], []))
            parsing.give(None)
            with self._lock:
                self._waiting.remove(parsing)


class _Worker:
    """One process, started anew after each that was lost."""

    def __init__(self, command: list[str], limits: Limits) -> None:
        self._command = command
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the worker ends)
        self._lock = Lock()
        self._ended = False

    def parse(self, file: File, clean: bool) -> Generator[Parsed, None, None]:
        """Ask the process for a file's documents and yield them part by part; where no answer comes the file is skipped."""
        process = self._running()
        asked = json.dumps({"path": str(file.path.absolute()), "source": file.source, "clean": clean}).encode() + b"\n"
        answer: dict[str, Any] = {}
        try:
            while "skipped" not in answer:
                late = Timer(self._limits.seconds, process.kill)
                late.start()
                line = _asked(process, asked)
                too_late = not late.is_alive()
                late.cancel()
                if not line.endswith(b"\n"):
                    process.kill()
                    code = process.wait()
                    reason = f"took longer than {self._limits.seconds:g} s" if too_late else self._reason(code)
                    yield Parsed([], [(file.source, reason)], [])
                    return
                asked, answer = b"", json.loads(line)
                documents = [Document(text, id=identity, metadata=metadata) for identity, text, metadata in answer["documents"]]
                yield Parsed(documents, *([(name, why) for name, why in answer.get(told, ())] for told in ("skipped", "remarks")))
        finally:
            if "skipped" not in answer:
                process.kill()
                process.wait()

    def runs(self) -> bool:
        """Tell whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """End the process for good."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            self._errors.close()

    def _running(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._ended:
                raise OSError("reading has ended")
            if self._process is None or self._process.poll() is not None:
                self._errors.seek(0)
                self._errors.truncate()
                pipe = subprocess.PIPE
                # A worker can import what this process can, and nothing beside it.
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
                self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=self._errors, env=environment)
            return self._process

    def _reason(self, code: int) -> str:
        """Say why a process ended, by its last words."""
        with self._lock:
            if self._ended:
                return "reading has ended"
            self._errors.seek(0)
            *_, last = ["", *self._errors.read().decode("utf-8", "replace").strip().splitlines()]
        if last.startswith(("ModuleNotFoundError", "ImportError")):
            return f"its reader cannot load, see `ramify doctor` ({last})"
        if last.startswith("MemoryError"):
            return f"needs more than {self._limits.memory_mb:,} MB of memory to be read"
        if code > 0 and last:
            return f"its reader failed: {last[:200]}"
        return f"its reader died ({f'signal {-code}' if code < 0 else f'code {code}'})"


def _asked(process: "subprocess.Popen[bytes]", line: bytes) -> bytes:
    """Write a line, if there is one, to a process and read one; nothing from one that is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
        return process.stdout.readline()
    except (BrokenPipeError, ValueError):
        return b""
