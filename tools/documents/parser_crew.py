"""Worker processes that parse files side by side: one that hangs, dies or takes more than it may costs its file, by name."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread, Timer
from typing import NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, Skipped

Parsed = tuple[list[Document], list[Skipped], list[Skipped]]
"""A file's documents, what was left out of it, and what is to be said of it."""


class Limits(NamedTuple):
    """What a worker may use for a file before it is ended and the file is named."""

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


class Crew:
    """As many workers as wanted, each started when it is first needed."""

    def __init__(self, size: int, limits: Limits, command: Callable[[Limits], list[str]] = command) -> None:
        self.size = size
        self._limits = limits
        self._command = command
        self._files: SimpleQueue[tuple[File, bool, Future[Parsed]] | None] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._waiting = 0
        self._lock = Lock()

    def parse(self, file: File, clean: bool) -> Future[Parsed]:
        """Have a file parsed, and tidied up to have it `clean`, by the next worker that is free."""
        result: Future[Parsed] = Future()
        with self._lock:
            self._waiting += 1
            wanted = len(self._workers) < min(self.size, self._waiting)
        if wanted:
            self._workers.append(_Worker(self._command(self._limits), self._limits))
            Thread(target=self._serve, args=(self._workers[-1],), name="ramify-reading", daemon=True).start()
        self._files.put((file, clean, result))
        return result

    def running(self) -> int:
        """Count the processes that are there."""
        return sum(worker.runs() for worker in self._workers)

    def close(self) -> None:
        """End all workers, whatever they are at."""
        for worker in self._workers:
            self._files.put(None)
            worker.end()

    def _serve(self, worker: "_Worker") -> None:
        while (asked := self._files.get()) is not None:
            file, clean, result = asked
            try:
                result.set_result(worker.parse(file, clean))
            except OSError as error:
                result.set_result(([], [(file.source, f"no process to read it in: {error.strerror or error}")], []))
            with self._lock:
                self._waiting -= 1


class _Worker:
    """One process, started anew after each that was lost."""

    def __init__(self, command: list[str], limits: Limits) -> None:
        self._command = command
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the worker ends)
        self._lock = Lock()
        self._ended = False

    def parse(self, file: File, clean: bool) -> Parsed:
        """Ask the process for a file's documents; without an answer the file is skipped."""
        process = self._running()
        late = Timer(self._limits.seconds, process.kill)
        late.start()
        line = _asked(process, json.dumps({"path": str(file.path.absolute()), "source": file.source, "clean": clean}).encode() + b"\n")
        too_late = not late.is_alive()
        late.cancel()
        if line.endswith(b"\n"):
            answer = json.loads(line)
            documents = [Document(text, id=identity, metadata=metadata) for identity, text, metadata in answer["documents"]]
            return documents, [(name, why) for name, why in answer["skipped"]], [(name, said) for name, said in answer["remarks"]]
        process.kill()
        code = process.wait()
        return [], [(file.source, f"took longer than {self._limits.seconds:g} s" if too_late else self._reason(code))], []

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
    """Write a line to a process and read one; nothing from one that is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
        return process.stdout.readline()
    except (BrokenPipeError, ValueError):
        return b""
