"""A pool of worker processes that parse files; where one hangs, dies or exceeds its limits, its file is skipped with the reason.

A worker is this module, started as `python -m ramify.tools.documents.worker_pool SECONDS MEMORY_MB`: each line of JSON on stdin names a
file, and lines of JSON on stdout contain its documents. It ends when its parent closes stdin; any error in a parser ends it, with the
reason as the last line on stderr.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from queue import Queue, SimpleQueue
from threading import Lock, Thread, Timer
from typing import Any, BinaryIO, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import File, ReadReport
from ramify.tools.documents.ocr import DEFAULT_OCR, Ocr
from ramify.tools.documents.readers import find_reader, parse_file

_MAX_QUEUED_ANSWERS = 2
"""Most queued answers per file; beyond that, its worker waits."""


Answer = dict[str, Any]
"""A worker's answer: `documents`, each as (id, text, metadata); the last one of a file also has `skipped` and `remarks`.

An empty one says that the worker is alive, after a long step.
"""


class Limits(NamedTuple):
    """The time and memory that a worker may use for a file, or a part of one, before it is killed and the file is skipped."""

    seconds: float = 120
    memory_mb: int = 2048


LIMITS = Limits()
"""The default limits."""


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_command(limits: Limits) -> list[str]:
    """Return the command that starts a worker; -P, since the working directory contains documents, not modules."""
    return [sys.executable, "-P", "-m", "ramify.tools.documents.worker_pool", str(limits.seconds), str(limits.memory_mb)]


class ParseTask:
    """A file to be parsed by a worker, with a bounded queue of its answers."""

    def __init__(self, file: File, clean: bool, ocr: Ocr) -> None:
        self.file = file
        self.clean = clean
        self.ocr = ocr
        self._answers: Queue[Answer | None] = Queue(_MAX_QUEUED_ANSWERS)
        self._wanted = True

    def documents(self, report: ReadReport) -> Iterator[Document]:
        """Yield the documents; `report` is complete at the end. RuntimeError if the task was closed."""
        while (answer := self._answers.get()) is not None:
            report.skipped += [(name, reason) for name, reason in answer.get("skipped", ())]
            report.remarks += [(name, remark) for name, remark in answer.get("remarks", ())]
            yield from (Document(text, id=identity, metadata=metadata) for identity, text, metadata in answer["documents"])
        if not self._wanted:
            raise RuntimeError(f"the documents of {self.file.source!r} were not taken before the next file was")

    def put_answer(self, answer: Answer | None) -> bool:
        """Queue an answer, None after the last; return False if the task was closed."""
        if self._wanted:
            self._answers.put(answer)
        return self._wanted

    def close(self) -> None:
        """Cancel the task."""
        self._wanted = False
        while not self._answers.empty():
            self._answers.get_nowait()
        self._answers.put(None)  # ends a reader that is waiting


class WorkerPool:
    """A pool of worker processes, each started when it is first needed."""

    def __init__(self, size: int, limits: Limits, command: Callable[[Limits], list[str]] = worker_command) -> None:
        self.size = size
        self._limits = limits
        self._command = command
        self._files: SimpleQueue[ParseTask | None] = SimpleQueue()
        self._workers: list[_Worker] = []
        self._waiting: set[ParseTask] = set()
        self._lock = Lock()

    def parse(self, file: File, clean: bool, ocr: Ocr = DEFAULT_OCR) -> ParseTask:
        """Submit a file to be parsed, and tidied where it is to be `clean`, by the next free worker."""
        task = ParseTask(file, clean, ocr)
        with self._lock:
            self._waiting.add(task)
            wanted = len(self._workers) < min(self.size, len(self._waiting))
        if wanted:
            self._workers.append(_Worker(self._command(self._limits), self._limits))
            Thread(target=self._serve, args=(self._workers[-1],), name="ramify-reading", daemon=True).start()
        self._files.put(task)
        return task

    def running_count(self) -> int:
        """Return the number of running processes."""
        return sum(worker.is_running() for worker in self._workers)

    def close(self) -> None:
        """Kill all workers."""
        with self._lock:
            waiting = list(self._waiting)
        for task in waiting:
            task.close()
        for worker in self._workers:
            self._files.put(None)
            worker.end()

    def _serve(self, worker: "_Worker") -> None:
        while (task := self._files.get()) is not None:
            try:
                with closing(worker.parse(task)) as answers:
                    all(task.put_answer(answer) for answer in answers)
            except OSError as error:
                task.put_answer(_skipped_answer(task.file, f"no worker process can be started: {error.strerror or error}"))
            task.put_answer(None)
            with self._lock:
                self._waiting.remove(task)


class _Worker:
    """One process, restarted when it has died."""

    def __init__(self, command: list[str], limits: Limits) -> None:
        self._command = command
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the worker ends)
        self._lock = Lock()
        self._ended = False

    def parse(self, task: ParseTask) -> Generator[Answer, None, None]:
        """Request a file's documents and yield the answers; if the process fails, the file is skipped."""
        process, file = self._running(), task.file
        request = {"path": str(file.path.absolute()), "source": file.source, "clean": task.clean, "ocr": task.ocr}
        asked = json.dumps(request).encode() + b"\n"
        answer: Answer = {}
        try:
            while "skipped" not in answer:
                late = Timer(self._limits.seconds, process.kill)
                late.start()
                line = _exchange(process, asked)
                too_late = not late.is_alive()
                late.cancel()
                if not line.endswith(b"\n"):
                    process.kill()
                    code = process.wait()
                    yield _skipped_answer(file, f"took longer than {self._limits.seconds:g} s" if too_late else self._reason(code))
                    return
                asked, answer = b"", json.loads(line)
                if answer:
                    yield answer
        finally:
            if "skipped" not in answer:
                process.kill()
                process.wait()

    def is_running(self) -> bool:
        """Return whether the process is running."""
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        """Kill the process; it is not started again."""
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
                # A worker can import the same modules as this process.
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
                self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=self._errors, env=environment)
            return self._process

    def _reason(self, code: int) -> str:
        """Return why a process ended, from its last line on stderr."""
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


def _skipped_answer(file: File, reason: str) -> Answer:
    return {"documents": [], "skipped": [(file.source, reason)]}


def _exchange(process: "subprocess.Popen[bytes]", line: bytes) -> bytes:
    """Write a line, if there is one, to a process and read one; empty if the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line)
        process.stdin.flush()
        return process.stdout.readline()
    except (BrokenPipeError, ValueError):
        with suppress(OSError):  # what could not be written is still in its buffer; Python 3.13 would print that it is lost
            process.stdin.close()
        return b""


_GRACE_S = 5
"""A worker without a parent ends itself this long after the time limit at which the parent would kill it."""
_MAX_RECURSION = 5000
"""Python's recursion limit: mammoth needs sixteen calls per nested table. An 8 MB C stack is enough for it."""
_BATCH_DOCUMENTS = 256
_BATCH_CHARACTERS = 1 << 20
"""Documents and characters per answer, if a file is streamed."""


def run_worker(seconds: float, memory_mb: int) -> None:
    """Parse the files named on stdin until it is closed."""
    if sys.platform == "linux":  # elsewhere the limit cannot be set below what is in use, or is not kept
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    sys.setrecursionlimit(_MAX_RECURSION)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to handle
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # output of libraries must not mix with answers
    for line in sys.stdin.buffer:
        _limit_time(seconds + _GRACE_S)
        for answer in _parse_request(json.loads(line), lambda: _answer(out, {}, seconds)):
            _answer(out, answer, seconds)
        _limit_time(0)


def _answer(out: BinaryIO, answer: Answer, seconds: float) -> None:
    """Write an answer, and begin the time limit anew."""
    content = json.dumps(answer).encode() + b"\n"
    _limit_time(0)  # writing may wait for the parent
    out.write(content)
    out.flush()
    _limit_time(seconds + _GRACE_S)


def _limit_time(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _parse_request(asked: dict[str, Any], keep_alive: Callable[[], None]) -> Iterator[Answer]:
    """Parse the requested file and yield answers: several if it is streamed. The last one also has the report."""
    report = ReadReport(Ocr(*asked["ocr"]))
    report.keep_alive = keep_alive
    path = Path(asked["path"])
    reader = find_reader(path)
    part: list[tuple[str | None, str, dict[str, Any]]] = []
    size = 0
    for document in parse_file(File(path, asked["source"], path.parent), report, asked["clean"]):
        part.append((document.id, document.page_content, document.metadata))
        size += len(document.page_content) + sum(len(str(value)) for value in document.metadata.values())
        if reader and reader.in_parts and (len(part) == _BATCH_DOCUMENTS or size >= _BATCH_CHARACTERS):
            yield {"documents": part}
            part, size = [], 0
    yield {"documents": part, "skipped": report.skipped, "remarks": report.remarks}


if __name__ == "__main__":
    run_worker(float(sys.argv[1]), int(sys.argv[2]))
