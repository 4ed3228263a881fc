"""Questions that wait and are answered: so many at once, in the order in which they came; and the events of an answer."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from secrets import token_hex
from typing import Any, NamedTuple

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from ramify.graphs.run import Result, Reviewer, RunTracker, Watch, failure_reason
from ramify.nodes.step.review import DECISIONS
from ramify.tools.errors import IndexingError, InputError, ModelError, RamifyError, ReplyError, UsageError
from ramify.tools.quoting import one_line
from ramify.tools.scrub import scrub

Decisions = list[dict[str, Any]]
Run = Callable[[Watch, Reviewer], Awaitable[Result]]
"""Answers a question while something watches; the reviewer decides on what is proposed."""
PING_S = 15.0
"""Seconds of silence after which an empty event is sent: whatever lies between does not take the connection for dead."""
GONE, STOPPED = "its client has gone", "it was stopped"
CLOSING = "the server is being stopped"
_SHOWN = ("path", "parent", "question", "kind", "status", "answer", "confidence", "note")
"""What is told of a branch while the tree grows."""
_KINDS = {400: "usage", 401: "token", 404: "missing", 405: "usage"}
_STATUS = ((UsageError, "usage", 400), (ModelError, "model", 503), (ReplyError, "model", 502), (IndexingError, "index", 503))


class Failure(NamedTuple):
    """Why there is no answer: a kind for programs, a line for people, and the HTTP status that means it."""

    kind: str
    message: str
    status: int

    def to_json(self) -> dict[str, Any]:
        """Return it as the object that events and refusals carry."""
        return {"kind": self.kind, "message": self.message}


def failure_of(error: BaseException) -> Failure:
    """Return the failure that an error means; one that no message was written for is logged."""
    for kind, name, status in _STATUS:
        if isinstance(error, kind):
            return Failure(name, str(error), status)
    if isinstance(error, RamifyError):
        return Failure("input" if isinstance(error, InputError) else "other", str(error), 500)
    if isinstance(error, HTTPException):
        return Failure(_KINDS.get(error.status_code, "other"), error.detail, error.status_code)
    logging.getLogger("ramify.serve").error("a question failed", exc_info=error)
    return Failure("unexpected", f"{scrub(one_line(f'{type(error).__name__}: {error}'))} — the server's log has more: report it", 500)


class Event(NamedTuple):
    """Something that happened to a question: accepted, waiting, tree, text, review, result or error; without a name, a sign of life."""

    name: str
    data: dict[str, Any]


class Decided(BaseModel):
    """What a person decided, as our own interface takes it: one decision for each action."""

    decisions: Decisions = Field(min_length=1)
    id: str | None = None
    """The review that was decided on, by the id of its event; left out, the one that waits."""


class Review:
    """A request that waits for a person's decisions (`ask_first`); `changed` is called with each new one."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.request: dict[str, Any] | None = None
        """What is proposed, as LangGraph's interrupt tells it, with an id of its own; None while nothing waits."""
        self._changed = changed
        self._decided: asyncio.Future[Decisions] | None = None

    async def decisions(self, actions: Sequence[dict[str, Any]]) -> Decisions:
        """Propose actions, and return what was decided on each."""
        configs = [{"action_name": action["name"], "allowed_decisions": DECISIONS} for action in actions]
        self.request = {"id": token_hex(8), "action_requests": list(actions), "review_configs": configs}
        self._decided = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            return await self._decided
        finally:
            self.request = self._decided = None

    def decide(self, given: Decided) -> bool:
        """Take in decisions; return whether something waited for them."""
        if self._decided is None or self._decided.done() or self.request is None or given.id not in (None, self.request["id"]):
            return False
        self._decided.set_result(given.decisions)
        return True


class Asked(RunTracker):
    """A question from when it was asked until its result or failure is known; it tracks its run, and tells of each change."""

    def __init__(self, user: str, thread: str) -> None:
        super().__init__()
        self.id = token_hex(8)
        self.user, self.thread = user, thread
        self.result: Result | None = None
        self.failure: Failure | None = None
        self.position = 0
        """Its place among the questions that wait, from 1; 0 once it has begun."""
        self.holds = False
        """Whether it has one of the places of those that are answered."""
        self.review = Review(self.change)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[Result] | None = None
        self._stopped = ""

    def __call__(self, kind: str, event: Any) -> None:
        """Take in an event of the run."""
        super().__call__(kind, event)
        self.change()

    @property
    def done(self) -> bool:
        """Tell whether it has ended, one way or the other."""
        return self.result is not None or self.failure is not None

    def begin(self, work: Coroutine[Any, Any, Result], on_end: Callable[[], None]) -> None:
        """Begin to work on it; `on_end` is called at its end."""
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(self._finish)
        self._task.add_done_callback(lambda _: on_end())

    def stop(self, why: str) -> None:
        """Stop it, unless it has ended."""
        if self._task is not None and not self.done:
            self._stopped = self._stopped or why
            self._task.cancel()

    def change(self) -> None:
        """Wake whoever reads its events."""
        self._changed.set()

    async def outcome(self) -> Result:
        """Wait for its end; return the result, or raise the error that it ended with."""
        await self.ended()
        if self._task is None or self._task.cancelled():
            raise RamifyError(f"the question was not answered: {self._stopped or CLOSING}", "ask it again")
        return self._task.result()

    async def ended(self) -> None:
        """Wait for its end; whoever waits may be cancelled without it."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens until its end: a result, or an error, or both where nothing could be asked.

        A slow reader gets several changes as one.
        """
        yield Event("accepted", {"id": self.id, "thread": self.thread or None})
        seen = _Seen()
        while not self.done:
            self._changed.clear()
            for event in seen.new(self):
                yield event
            try:
                await asyncio.wait_for(self._changed.wait(), PING_S)
            except TimeoutError:
                yield Event("", {})
        for event in seen.new(self):
            yield event
        if self.result is not None:
            yield Event("result", self.result.to_json())
        if self.failure is not None:
            yield Event("error", self.failure.to_json())

    def answer(self) -> Result:
        """Return the result of a question that has one."""
        if self.result is None:
            raise RuntimeError(f"question {self.id} has no result: {self.failure}")
        return self.result

    def _finish(self, task: asyncio.Task[Result]) -> None:
        if task.cancelled():
            self.failure = Failure("stopped", f"the question was not answered: {self._stopped or CLOSING} — ask it again", 503)
        elif (error := task.exception()) is not None:
            self.failure = failure_of(error)
        else:
            self.result = result = task.result()
            if (why := failure_reason(result)) and not any(branch.known for branch in result.tree.values()):
                self.failure = Failure("model", why, 503)
        self.change()


class _Seen:
    """What a reader of events has been told."""

    def __init__(self) -> None:
        self._position = 0
        self._rows: dict[str, dict[str, Any]] = {}
        self._busy: dict[str, str] = {}
        self._text = ""
        self._review: str | None = None

    def new(self, asked: Asked) -> list[Event]:
        """Return what is new since the last call."""
        found = []
        if asked.position != self._position:
            self._position = asked.position
            found.append(Event("waiting", {"position": asked.position}))
        rows = {path: {name: getattr(branch, name) for name in _SHOWN} for path, branch in asked.tree.items()}
        busy, text = asked.busy, asked.text
        changed = [one for path, one in rows.items() if self._rows.get(path) != one]
        if changed or busy != self._busy:
            found.append(Event("tree", {"branches": changed, "doing": busy}))
        if text != self._text:
            anew = not text.startswith(self._text)
            found.append(Event("text", {"delta": text if anew else text[len(self._text) :], "anew": anew}))
        if (request := asked.review.request) is not None and request["id"] != self._review:
            self._review = request["id"]
            found.append(Event("review", request))
        self._rows, self._busy, self._text = rows, busy, text
        return found


class Questions:
    """The questions of a server: at most `at_once` are answered at the same time, the rest wait in order.

    One that waits for a person has no place among them: it takes another when that person has decided.
    """

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)
        self._asked: dict[str, Asked] = {}
        self._waiting: dict[str, Asked] = {}
        self._closed = False

    def ask(self, user: str, run: Run, thread: str = "") -> Asked:
        """Take up a question; RamifyError where the server is being stopped, or its thread is still at another."""
        if self._closed:
            raise RamifyError(CLOSING, "ask again when it is back")
        if thread and self.busy(user, thread):
            raise UsageError(f"the conversation {thread!r} is still at its last question", "wait for it, or stop it")
        asked = Asked(user, thread)
        self._asked[asked.id] = self._waiting[asked.id] = asked
        asked.begin(self._answer(asked, run), lambda: self._forget(asked))
        return asked

    @property
    def count(self) -> int:
        """Count those that wait or are being answered."""
        return len(self._asked)

    def busy(self, user: str, thread: str) -> bool:
        """Tell whether a question of a thread waits or is being answered."""
        return any(asked.user == user and asked.thread == thread for asked in self._asked.values())

    def stop(self, user: str, identity: str) -> bool:
        """Stop a question of a user; return whether there was one."""
        asked = self._asked.get(identity)
        if asked is None or asked.user != user:
            return False
        asked.stop(STOPPED)
        return True

    def decide(self, user: str, thread: str, decided: Decided) -> bool:
        """Give what a user decided to the question of a thread; return whether it waited for that."""
        return any(asked.review.decide(decided) for asked in self._asked.values() if asked.user == user and asked.thread == thread)

    async def close(self) -> None:
        """Take up no more questions, and stop those that are there."""
        self._closed = True
        for asked in (there := list(self._asked.values())):
            asked.stop(CLOSING)
        for asked in there:
            await asked.ended()

    async def _answer(self, asked: Asked, run: Run) -> Result:
        async def reviewer(actions: Decisions) -> Decisions:
            self._release(asked)
            decided = await asked.review.decisions(actions)
            await self._enter(asked)
            return decided

        await self._enter(asked)
        try:
            return await run(asked, reviewer)
        finally:
            self._release(asked)

    async def _enter(self, asked: Asked) -> None:
        """Wait for a place among those that are answered."""
        self._waiting[asked.id] = asked
        self._tell_order()
        await self._turns.acquire()
        asked.holds = True
        self._leave(asked)

    def _release(self, asked: Asked) -> None:
        """Give the place of a question, where it has one, to the next."""
        if asked.holds:
            asked.holds = False
            self._turns.release()

    def _forget(self, asked: Asked) -> None:
        self._leave(asked)
        del self._asked[asked.id]

    def _leave(self, asked: Asked) -> None:
        """Take a question out of those that wait."""
        if self._waiting.pop(asked.id, None) is not None:
            asked.position = 0
            asked.change()
            self._tell_order()

    def _tell_order(self) -> None:
        """Number those that wait; a question that can begin at once is none of them."""
        if self._turns.locked():
            for place, asked in enumerate(self._waiting.values(), 1):
                if asked.position != place:
                    asked.position = place
                    asked.change()
