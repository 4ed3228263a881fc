"""One model at several servers: each call goes to the least busy one in use, and to another where it fails."""

import asyncio
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ramify.tools.errors import ModelError
from ramify.tools.models import servers
from ramify.tools.models._model import Model
from ramify.tools.models.concurrency import Limiter, ServerRecord, enter_least_busy, get_cap
from ramify.tools.models.reply_parsing import Structured
from ramify.tools.models.servers import Server, Trouble, classify_call, explain_error, is_server_down, safe_cause
from ramify.tools.models.structured_call import thinking_allowance
from ramify.tools.models.tokens import LearnedCount, estimate_tokens

CALL_TROUBLES = frozenset({"overlong", "refused"})
"""Troubles with the call itself, which would recur at another server."""
MAX_TIMEOUTS = 2
"""Most servers at which one call may time out; after two, the reply probably takes longer than the timeout."""


class BackendError(Exception):
    """A call failed at one server, and may succeed at another."""

    def __init__(self, trouble: Trouble, error: Exception, model: Model) -> None:
        super().__init__(trouble)
        self.trouble = trouble
        self.explained = explain_error(trouble, error, model.server)
        self.explained.__cause__ = safe_cause(trouble, error)


@dataclass(eq=False)
class Backend:
    """One server of a pool."""

    url: str
    look_up: Callable[[], Model] = field(repr=False)
    """Returns the model at this server; blocking, ModelError if it cannot be used."""
    limiter: Limiter = field(repr=False)
    on_change: Callable[[], None] = field(default=lambda: None, repr=False)
    """Called when the server is excluded or included."""
    min_window: int = 0
    """Tokens that its window must have, since prompts are made for this size."""
    model: Model | None = None
    remedy: str = ""
    """The remedy for its exclusion."""
    checking: bool = False

    @property
    def record(self) -> ServerRecord:
        """Return the record of the model at this server, shared by all pools."""
        return self.limiter.record

    @property
    def usable(self) -> Model | None:
        """Return the model at this server, None if the server is excluded."""
        return None if self.record.excluded else self.model

    def check(self) -> None:
        """Look the model up, and include or exclude the server; blocking."""
        was = self.record.excluded
        try:
            model = self.look_up()
            if (model.num_ctx or self.min_window) < self.min_window:
                what = f"{model.name} at {self.url} has a window of {model.num_ctx} tokens, fewer than the {self.min_window} of the others"
                raise ModelError(what, "start it with a window as long as the others'")
        except ModelError as error:
            self.remedy = error.remedy
            self.record.exclude(error.what)
        else:
            self.model = model
            self.record.include()
        finally:
            self.checking = False
        if bool(was) != bool(self.record.excluded):
            self.on_change()

    def check_in_background(self) -> None:
        """Start a check in a thread, if it is due or the server was included through another pool."""

        def check() -> None:
            with suppress(RuntimeError):  # the process is ending
                self.check()

        if not self.checking and (self.record.due() or (self.model is None and not self.record.excluded)):
            self.checking = True
            threading.Thread(target=check, daemon=True).start()

    async def call(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None) -> Structured:
        """Make a call with an acquired slot, and release it; BackendError if another server may serve the call."""
        model = self.model
        assert model is not None
        try:
            asked = await model.attempt(messages, schema, longest)
        except Exception as error:
            trouble = classify_call(error, model.server)
            if trouble is None:
                raise
            if trouble in CALL_TROUBLES:
                raise explain_error(trouble, error, model.server) from safe_cause(trouble, error)
            explained = explain_error(trouble, error, model.server, again=False)
            if self.record.fail(explained.what, is_server_down(trouble, error)):
                self.remedy = explained.remedy
                self.on_change()
            raise BackendError(trouble, error, model) from None
        finally:
            self.limiter.leave()
        self.record.succeed()
        return asked


@dataclass(frozen=True, eq=False)
class Pool(Model):
    """A model at several servers, each with its own limiter and record."""

    backends: tuple[Backend, ...] = field(kw_only=True, repr=False)

    @property
    def notices(self) -> list[str]:
        """Return the notices on used and excluded servers."""
        return [*super().notices, *self._excluded]

    @property
    def learned_notices(self) -> list[str]:
        """Return what calls have shown about the servers, and which are excluded now."""
        notices = [notice for backend in self.backends if backend.model for notice in backend.model.learned_notices]
        return list(dict.fromkeys([*notices, *self._excluded]))

    @property
    def _excluded(self) -> list[str]:
        reasons = [backend.record.excluded for backend in self.backends if backend.record.excluded]
        return [f"{why}: the server is excluded and checked again periodically" for why in reasons]

    @property
    def thought_tokens(self) -> int:
        """Return the tokens that a reply may take in addition to `num_predict`: for all servers, if the model thinks at one of them."""
        thinks = any(backend.model.server.record.mode.thinks for backend in self.backends if backend.model)
        return thinking_allowance(self.num_ctx) if thinks and self.num_predict is not None else 0

    async def reply(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None = None) -> Structured:
        """Return the reply of a server, like `Model.reply`; ModelError if no server can be used."""
        for pause in (*servers.RETRY_PAUSES_S, None):
            asked = await self._ask_each(messages, schema, longest)
            if isinstance(asked, Structured):
                return asked
            if pause is None or asked.trouble == "silent":  # waiting as long once more would not help
                raise asked.explained
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _ask_each(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None) -> Structured | BackendError:
        """Try the servers in turn; return a BackendError if each failed, raise ModelError if no server can be used."""
        failed: dict[Backend, BackendError] = {}
        while True:
            while backend := await self._enter(failed):
                try:
                    return await backend.call(messages, schema, longest)
                except BackendError as error:
                    failed[backend] = error
                    if [one.trouble for one in failed.values()].count("silent") >= MAX_TIMEOUTS:
                        raise error.explained from None
            if not any(backend.usable for backend in self.backends):  # an excluded one may be available again
                await asyncio.gather(*(asyncio.to_thread(backend.check) for backend in self.backends))
                if not any(backend.usable for backend in self.backends):
                    raise no_server_error(self.backends)
            if failed:
                return min(failed.values(), key=lambda error: error.trouble == "silent")

    async def _enter(self, tried: Collection[Backend]) -> Backend | None:
        """Acquire a slot at the least busy server, waiting for one if needed; None if each server was tried or is excluded."""
        while True:
            for backend in self.backends:
                backend.check_in_background()
            usable = {
                backend.limiter: (backend, model.cap.limit)
                for backend in self.backends
                if backend not in tried and (model := backend.usable)
            }
            if not usable:
                return None
            limiter = await enter_least_busy({limiter: limit for limiter, (_, limit) in usable.items()})
            if limiter is None:  # a server was excluded or included
                continue
            backend, _ = usable[limiter]
            if backend.usable:
                return backend
            limiter.leave()


def create_pool(name: str, look_ups: Mapping[str, Callable[[], Model]]) -> Pool:
    """Look a model up at several servers, by their addresses without credentials; blocking. ModelError if none has it."""
    provider, _, model = name.partition(":")
    backends = tuple(
        Backend(url, look_up, get_cap((provider, model, url), None, lasting=True).limiter) for url, look_up in look_ups.items()
    )
    with ThreadPoolExecutor(len(backends)) as threads:
        for _ in threads.map(Backend.check, backends):  # a UsageError is raised here
            pass
    usable = [found for backend in backends if (found := backend.usable)]
    if not usable:
        raise no_server_error(backends)
    windows = [found.num_ctx for found in usable if found.num_ctx]
    smallest = min(windows, default=None)

    def reroute() -> None:
        for backend in backends:
            backend.limiter.reroute()

    for backend in backends:
        backend.min_window, backend.on_change = smallest or 0, reroute
    notice = f"{name} is used at {len(backends)} servers: {', '.join(backend.url for backend in backends)}"
    if len(set(windows)) > 1:
        notice = f"{notice}; their windows differ, and prompts are made for the smallest, of {smallest} tokens"
    first = usable[0]
    server = Server(name, first.server.timeout, remote=True)
    return Pool(
        name, first.chat, lambda text: _max_count(backends, text), first.cap, smallest, server,
        notice=notice, num_predict=first.num_predict, backends=backends, client_s=max(found.client_s for found in usable),
    )  # fmt: skip


def no_server_error(backends: Sequence[Backend]) -> ModelError:
    """Return an error with the reason for each server's exclusion."""
    remedies = dict.fromkeys(backend.remedy for backend in backends if backend.remedy)
    reasons = "; ".join(backend.record.excluded for backend in backends)
    return ModelError(f"none of the {len(backends)} servers can be used: {reasons}", "; or ".join(remedies))


def _max_count(backends: Sequence[Backend], text: str) -> int:
    """Return the count of a server's tokenizer if one has it, else the highest learned count, since the prompt may go to any server."""
    counts = [model.count for backend in backends if (model := backend.usable)]
    exact = [count for count in counts if count is not estimate_tokens and not isinstance(count, LearnedCount)]
    return exact[0](text) if exact else max((count(text) for count in counts), default=estimate_tokens(text))
