"""The queue of questions, of which a limited number are answered at the same time, and the events of an answer."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from secrets import token_hex
from typing import Any, NamedTuple

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ramify.graphs.run import Result, Reviewer, RunTracker, Watch, failure_reason
from ramify.nodes.asking.ask import answerer_class
from ramify.nodes.step.review import DECISIONS
from ramify.tools.errors import IndexingError, InputError, ModelError, RamifyError, ReplyError, UsageError
from ramify.tools.new_files import is_disk_full
from ramify.tools.quoting import hide_folders, one_line
from ramify.tools.scrub import scrub

Decisions = list[dict[str, Any]]
Run = Callable[[Watch, Reviewer], Awaitable[Result]]
"""A coroutine function that answers a question: it reports events to `Watch`, and asks the reviewer for decisions."""
KEEP_ALIVE_S = 15.0
"""Seconds without events after which a keep-alive is sent, so that proxies do not close the connection."""
CLIENT_GONE, STOPPED_BY_USER = "its client has gone", "it was stopped"
SERVER_STOPPING = "the server is being stopped"
_BRANCH_FIELDS = ("path", "parent", "question", "kind", "status", "answer", "confidence", "note")
"""Fields of a branch in the events of the growing tree."""
_KIND_BY_STATUS = {400: "usage", 401: "token", 404: "missing", 405: "usage", 409: "usage"}
DISK_FULL = "the disk of the server is full — ask its operator to make room, and try again"
_LOG = logging.getLogger("ramify.serve")
_FAILURE_KINDS = ((ModelError, "model", 503), (ReplyError, "model", 502), (IndexingError, "index", 503), (InputError, "input", 500))


class Failure(NamedTuple):
    """Why there is no answer: a kind for programs, a one-line message for people, and the HTTP status."""

    kind: str
    message: str
    status: int

    def to_json(self) -> dict[str, Any]:
        """Return the object that events and error responses contain."""
        return {"kind": self.kind, "message": self.message}


def to_failure(error: BaseException) -> Failure:
    """Convert an error to a failure for clients, who see no folders of the server; the log has the whole message.

    What a UsageError says happened quotes what the client sent, and is not shortened.
    """
    if isinstance(error, HTTPException):
        return Failure(_KIND_BY_STATUS.get(error.status_code, "other"), error.detail, error.status_code)
    if isinstance(error, UsageError):
        return Failure("usage", f"{error.what} — {hide_folders(error.remedy)}", 400)
    if is_disk_full(error):
        _log_once(scrub(one_line(str(error))))
        return Failure("disk", DISK_FULL, 507)
    if not isinstance(error, RamifyError):
        _LOG.error("a question failed", exc_info=error)
        line = scrub(one_line(f"{type(error).__name__}: {error}"))
        return Failure("unexpected", f"{hide_folders(line)} — the server's log has more: report it", 500)
    if (message := hide_folders(str(error))) != str(error):
        _log_once(str(error))
    name, status = next(((name, status) for kind, name, status in _FAILURE_KINDS if isinstance(error, kind)), ("other", 500))
    return Failure(name, message, status)


@lru_cache(maxsize=256)
def _log_once(message: str) -> None:
    """Log a message, unless it was among the last ones."""
    _LOG.warning("%s", message)


class Event(NamedTuple):
    """An event of a question: accepted, waiting, tree, text, review, result or error; an event without a name is a keep-alive."""

    name: str
    data: dict[str, Any]


class DecisionsRequest(BaseModel):
    """A person's decisions on proposed actions, one for each action, in the form of the JSON interface."""

    decisions: Decisions = Field(min_length=1)
    id: str | None = None
    """The id of the event `review`; by default the pending review."""


class PendingReview:
    """A request for a person's decisions (`ask_first`); `on_change` is called when there is a new one."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.request: dict[str, Any] | None = None
        """The proposed actions in the form of LangGraph's interrupts, with an id; None if no decision is pending."""
        self._on_change = on_change
        self._future: asyncio.Future[Decisions] | None = None

    async def decisions(self, actions: Sequence[dict[str, Any]]) -> Decisions:
        """Propose actions, and return the decision on each."""
        configs = [{"action_name": action["name"], "allowed_decisions": DECISIONS} for action in actions]
        self.request = {"id": token_hex(8), "action_requests": list(actions), "review_configs": configs}
        self._future = asyncio.get_running_loop().create_future()
        self._on_change()
        try:
            return await self._future
        finally:
            self.request = self._future = None

    def decide(self, request: DecisionsRequest) -> bool:
        """Submit decisions; return whether they were pending."""
        if self._future is None or self._future.done() or self.request is None or request.id not in (None, self.request["id"]):
            return False
        self._future.set_result(request.decisions)
        return True


class RunningQuestion(RunTracker):
    """A question from its submission until its result or failure; it tracks its run, and notifies the readers of its events."""

    def __init__(self, user: str, thread: str) -> None:
        super().__init__()
        self.id = token_hex(8)
        self.user, self.thread = user, thread
        self.result: Result | None = None
        self.failure: Failure | None = None
        self.position = 0
        """Its position in the queue, from 1; 0 once it has started."""
        self.has_slot = False
        """Whether it holds one of the queue's slots."""
        self.review = PendingReview(self.notify)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[Result] | None = None
        self._stopped = ""

    def __call__(self, kind: str, event: Any) -> None:
        """Process an event of the run."""
        super().__call__(kind, event)
        self.notify()

    @property
    def done(self) -> bool:
        """Return whether there is a result or a failure."""
        return self.result is not None or self.failure is not None

    def start(self, coroutine: Coroutine[Any, Any, Result], on_end: Callable[[], None]) -> None:
        """Start the coroutine that answers the question; `on_end` is called at its end."""
        self._task = asyncio.create_task(coroutine)
        self._task.add_done_callback(self._finish)
        self._task.add_done_callback(lambda _: on_end())

    def stop(self, reason: str) -> None:
        """Stop the question, unless it has ended."""
        if self._task is not None and not self.done:
            self._stopped = self._stopped or reason
            self._task.cancel()

    @property
    def is_stopped(self) -> bool:
        """Return whether it was stopped; it may not have ended yet."""
        return bool(self._stopped)

    def notify(self) -> None:
        """Wake the readers of its events."""
        self._changed.set()

    async def wait_for_result(self) -> Result:
        """Wait for the end; return the result, or raise the error."""
        await self.wait()
        if self._task is None or self._task.cancelled():
            raise RamifyError(f"the question was not answered: {self._stopped or SERVER_STOPPING}", "ask it again")
        return self._task.result()

    async def wait(self) -> None:
        """Wait for the end; cancelling the waiting task does not stop the question."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def events(self) -> AsyncIterator[Event]:
        """Yield events until the end: a result, an error, or both if the model could not be called.

        A slow reader gets several changes in one event.
        """
        yield Event("accepted", {"id": self.id, "thread": self.thread or None})
        reader = _EventReader()
        while not self.done:
            self._changed.clear()
            for event in reader.read_events(self):
                yield event
            try:
                await asyncio.wait_for(self._changed.wait(), KEEP_ALIVE_S)
            except TimeoutError:
                yield Event("", {})
        for event in reader.read_events(self):
            yield event
        if self.result is not None:
            yield Event("result", self.result.to_json())
        if self.failure is not None:
            yield Event("error", self.failure.to_json())

    def require_result(self) -> Result:
        """Return the result; raise RuntimeError if there is none."""
        if self.result is None:
            raise RuntimeError(f"question {self.id} has no result: {self.failure}")
        return self.result

    def _finish(self, task: asyncio.Task[Result]) -> None:
        if task.cancelled():
            self.failure = Failure("stopped", f"the question was not answered: {self._stopped or SERVER_STOPPING} — ask it again", 503)
        elif (error := task.exception()) is not None:
            self.failure = to_failure(error)
        else:
            self.result = result = task.result()
            if (why := failure_reason(result)) and not any(branch.known for branch in result.tree.values()):
                self.failure = Failure("usage", why, 400) if _is_unreadable(result) else Failure("model", why, 503)
        self.notify()


def _is_unreadable(result: Result) -> bool:
    """Return whether the embedded model cannot read the question: repeating it would not help."""
    return not result.error and answerer_class(result.model).objection(result.question) is not None


class _EventReader:
    """The state of one reader of events: what it has read."""

    def __init__(self) -> None:
        self._position = 0
        self._rows: dict[str, dict[str, Any]] = {}
        self._steps: dict[str, str] = {}
        self._text = ""
        self._review: str | None = None

    def read_events(self, running: RunningQuestion) -> list[Event]:
        """Return the events since the last call."""
        events = []
        if running.position != self._position:
            self._position = running.position
            events.append(Event("waiting", {"position": running.position}))
        rows = {path: {name: getattr(branch, name) for name in _BRANCH_FIELDS} for path, branch in running.tree.items()}
        busy, text = running.busy, running.text
        changed = [row for path, row in rows.items() if self._rows.get(path) != row]
        if changed or busy != self._steps:
            events.append(Event("tree", {"branches": changed, "doing": busy}))
        if text != self._text:
            replaced = not text.startswith(self._text)
            events.append(Event("text", {"delta": text if replaced else text[len(self._text) :], "anew": replaced}))
        if (request := running.review.request) is not None and request["id"] != self._review:
            self._review = request["id"]
            events.append(Event("review", request))
        self._rows, self._steps, self._text = rows, busy, text
        return events


class QuestionQueue:
    """The questions of a server: at most `max_concurrent` are answered at the same time, the others wait in order.

    A question that waits for a person's decision releases its slot and queues again afterwards.
    """

    def __init__(self, max_concurrent: int) -> None:
        self._slots = asyncio.Semaphore(max_concurrent)
        self._running: dict[str, RunningQuestion] = {}
        self._waiting: dict[str, RunningQuestion] = {}
        self._closed = False

    def submit(self, user: str, run: Run, thread: str = "") -> RunningQuestion:
        """Submit a question; raise RamifyError if the server is being stopped, UsageError if another question of its thread runs."""
        if self._closed:
            raise RamifyError(SERVER_STOPPING, "ask again when it is back")
        if thread and self.is_busy(user, thread):
            raise UsageError(f"the last question of the conversation {thread!r} is still being answered", "wait for it, or stop it")
        running = RunningQuestion(user, thread)
        self._running[running.id] = self._waiting[running.id] = running
        running.start(self._run_question(running, run), lambda: self._remove(running))
        return running

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Take a slot for work that is no question of a user; it waits in order, as questions do."""
        async with self._slots:
            yield

    @property
    def count(self) -> int:
        """Return the number of questions that wait or are being answered."""
        return len(self._running)

    async def wait_for_stopped(self, user: str, thread: str) -> None:
        """Wait for the end of the questions of a thread that were stopped."""
        for running in list(self._running.values()):
            if running.user == user and running.thread == thread and running.is_stopped:
                await running.wait()

    def is_busy(self, user: str, thread: str) -> bool:
        """Return whether a question of a thread waits or is being answered."""
        return any(running.user == user and running.thread == thread for running in self._running.values())

    def stop(self, user: str, identity: str) -> bool:
        """Stop a question of a user; return whether there was one."""
        running = self._running.get(identity)
        if running is None or running.user != user:
            return False
        running.stop(STOPPED_BY_USER)
        return True

    def decide(self, user: str, thread: str, request: DecisionsRequest) -> bool:
        """Submit a user's decisions to the question of a thread; return whether they were pending."""
        return any(
            running.review.decide(request) for running in self._running.values() if running.user == user and running.thread == thread
        )

    async def close(self) -> None:
        """Accept no more questions, and stop those that wait or run."""
        self._closed = True
        for running in (remaining := list(self._running.values())):
            running.stop(SERVER_STOPPING)
        for running in remaining:
            await running.wait()

    async def _run_question(self, running: RunningQuestion, run: Run) -> Result:
        async def reviewer(actions: Decisions) -> Decisions:
            self._release_slot(running)
            decisions = await running.review.decisions(actions)
            await self._acquire_slot(running)
            return decisions

        await self._acquire_slot(running)
        try:
            return await run(running, reviewer)
        finally:
            self._release_slot(running)

    async def _acquire_slot(self, running: RunningQuestion) -> None:
        """Wait for a slot in the queue."""
        self._waiting[running.id] = running
        self._update_positions()
        await self._slots.acquire()
        running.has_slot = True
        self._leave_queue(running)

    def _release_slot(self, running: RunningQuestion) -> None:
        """Release the slot of a question, if it has one."""
        if running.has_slot:
            running.has_slot = False
            self._slots.release()

    def _remove(self, running: RunningQuestion) -> None:
        self._leave_queue(running)
        del self._running[running.id]

    def _leave_queue(self, running: RunningQuestion) -> None:
        """Remove a question from those that wait."""
        if self._waiting.pop(running.id, None) is not None:
            running.position = 0
            running.notify()
            self._update_positions()

    def _update_positions(self) -> None:
        """Update the positions of waiting questions; while slots are free, no question waits."""
        if self._slots.locked():
            for position, running in enumerate(self._waiting.values(), 1):
                if running.position != position:
                    running.position = position
                    running.notify()
