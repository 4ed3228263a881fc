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
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.tools.documents.files import DEFAULT_OCR, File, Ocr, ReadReport, Unpacking
from ramify.tools.documents.readers import find_reader, parse_file

_MAX_QUEUED_ANSWERS = 2
"""Most queued answers per file; beyond that, its worker waits."""
_MAX_FAILURES = 10
"""Most files within a file that may end its worker; the files after them are not read."""


Answer = dict[str, Any]
"""A worker's answer: `documents`, each as (id, text, metadata), `skipped` and `remarks`; the last one of a file has `last`.

`member`: the number and source of a file within the file, which is read next.

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
            for name, reason in answer["skipped"]:
                report.skip(name, reason)
            for name, remark in answer["remarks"]:
                report.remark(name, remark)
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
                task.put_answer(_skipped_answer(task.file.source, f"no worker process can be started: {error.strerror or error}"))
            task.put_answer(None)
            with self._lock:
                self._waiting.remove(task)


class _WorkerFailedError(Exception):
    """A worker process hung or ended; the message is the reason."""


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
        """Request a file's documents and yield the answers; if the process fails, the file, or the file within it, is skipped.

        The files after a failed one within the file are then read by a new process.
        """
        done, file = 0, task.file
        for _ in range(_MAX_FAILURES):
            number, source = done, file.source
            try:
                with closing(self._answers(task, done)) as answers:
                    for answer in answers:
                        number, source = answer.get("member", (number, source))
                        yield answer
                return
            except _WorkerFailedError as error:
                yield _skipped_answer(source, str(error))
            if number == done:
                return
            done = number
        yield _skipped_answer(file.source, f"{_MAX_FAILURES} of the files in it ended their reader; those after {source!r} are not read")

    def _answers(self, task: ParseTask, done: int) -> Generator[Answer, None, None]:
        """Yield the answers of one process, which passes over the first `done` files within the file; _WorkerFailedError if it fails."""
        process, file = self._running(), task.file
        request = {"path": str(file.path.absolute()), "source": file.source, "clean": task.clean, "ocr": task.ocr, "done": done}
        asked = json.dumps(request).encode() + b"\n"
        answer: Answer = {}
        try:
            while "last" not in answer:
                timer = Timer(self._limits.seconds, process.kill)
                timer.start()
                line = _exchange(process, asked)
                too_late = not timer.is_alive()
                timer.cancel()
                if not line.endswith(b"\n"):
                    process.kill()
                    code = process.wait()
                    raise _WorkerFailedError(f"took longer than {self._limits.seconds:g} s" if too_late else self._reason(code))
                asked, answer = b"", json.loads(line)
                if answer:
                    yield answer
        finally:
            if "last" not in answer:
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


def _skipped_answer(source: str, reason: str) -> Answer:
    return {"documents": [], "skipped": [(source, reason)], "remarks": []}


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
"""Python's recursion limit: a nested table of Word needs a dozen calls. An 8 MB C stack is enough for it."""
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

    def write(answer: Answer) -> None:
        content = json.dumps(answer).encode() + b"\n"
        _limit_time(0)  # writing may wait for the parent
        out.write(content)
        out.flush()
        _limit_time(seconds + _GRACE_S)

    for line in sys.stdin.buffer:
        _limit_time(seconds + _GRACE_S)
        _answer_request(json.loads(line), write)
        _limit_time(0)


def _limit_time(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer_request(asked: dict[str, Any], write: Callable[[Answer], None]) -> None:
    """Parse the requested file and write answers: several if it is streamed, and one before each file within it."""
    part: list[tuple[str | None, str, dict[str, Any]]] = []
    size = 0

    def flush(**more: Any) -> None:
        nonlocal size
        size = 0
        skipped, remarks = (report.skipped, report.remarks) if more else ([], [])
        write({"documents": part, "skipped": skipped, "remarks": remarks, **more})
        part.clear()
        skipped.clear()
        remarks.clear()

    unpacking = Unpacking(asked["done"], lambda number, source: flush(member=(number, source)))
    report = ReadReport(Ocr(*asked["ocr"]), unpacking)
    report.keep_alive = lambda: write({})
    path = Path(asked["path"])
    reader = find_reader(path)
    for document in parse_file(File(path, asked["source"], path.parent), report, asked["clean"]):
        part.append((document.id, document.page_content, document.metadata))
        size += len(document.page_content) + sum(len(str(value)) for value in document.metadata.values())
        if reader and reader.in_parts and (len(part) == _BATCH_DOCUMENTS or size >= _BATCH_CHARACTERS):
            flush()
    flush(last=True)


if __name__ == "__main__":
    run_worker(float(sys.argv[1]), int(sys.argv[2]))
