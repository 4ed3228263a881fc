"""The common interface of chat models: limited calls, token counts, structured replies."""

import asyncio
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from ramify.tools.errors import WindowError
from ramify.tools.models.concurrency import Cap
from ramify.tools.models.reply_parsing import Structured
from ramify.tools.models.servers import QueuedError, Server, classify, find_refused_feature, refuses_thinking, with_retries
from ramify.tools.models.structured_call import (
    DEFAULT_MODE,
    MODE_ON_REFUSAL,
    OFF_WITHOUT_FORM,
    ON_PROGRESS,
    THINKING_OFF,
    THINKING_ON,
    Feature,
    call_structured,
    next_mode,
    thinking_allowance,
    with_mode,
)
from ramify.tools.models.tokens import LearnedCount, TokenCounter

T = TypeVar("T")


@dataclass(frozen=True)
class ModelOptions:
    """Address and sampling of a model; names and defaults are those of the settings."""

    base_url: str | None = None
    temperature: float = 0.0
    seed: int = 0
    num_ctx: int = 8192
    num_predict: int = 512
    timeout: float = 120.0
    keep_alive: str = "10m"
    max_concurrency: int | None = None
    adapter: str = "auto"


class PerLoop(Generic[T]):
    """One `T` per event loop; the first loop gets `first`."""

    def __init__(self, make: Callable[[], T], first: T) -> None:
        self._make = make
        self._spare: list[T] = [first]
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def get(self) -> T:
        """Return the instance of the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._made and self._spare:
                self._made[loop] = self._spare.pop()
            if loop in self._made:
                return self._made[loop]
        fresh = await asyncio.to_thread(self._make)  # reads certificates from disk
        with self._lock:
            return self._made.setdefault(loop, fresh)


@dataclass(frozen=True, eq=False)
class Model:
    """A chat model that is ready for calls."""

    name: str
    chat: BaseChatModel = field(repr=False)  # some clients print their keys
    count: TokenCounter = field(repr=False)
    """Counts a text's tokens; it may call the model's server, so call it outside the event loop."""
    cap: Cap = field(repr=False)
    num_ctx: int | None
    """Tokens of prompt and reply together; None if the model has no such limit."""
    server: Server = field(repr=False)
    notices: tuple[str, ...] = ()
    """Notices for the user before the first call, such as that it answers with an adapter."""
    load: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    """Loads the model in this process and returns the seconds taken, 0 if it was loaded; blocking."""
    client_s: float = field(default=0.0, repr=False)
    """Seconds taken to import and create its client, counted as loading."""
    chats: PerLoop[BaseChatModel] | None = field(default=None, repr=False)
    """The client for each event loop, if it has connections."""
    measures: bool = False
    """Whether its replies always come with log probabilities, so that it need not say how sure it is."""
    num_predict: int | None = None
    """Maximum tokens of a reply, if the toolkit sets it."""
    parameters: int | None = None
    """The number of its weights, where the file or the server tells it."""

    @property
    def thought_tokens(self) -> int:
        """Return the tokens that a reply may take in addition to `num_predict`, because the model thinks first."""
        return self.thought_room if self.server.record.mode.thinks else 0

    @property
    def thought_room(self) -> int:
        """Return the tokens of a thought."""
        return thinking_allowance(self.num_ctx) if self.num_predict is not None else 0

    @property
    def can_think(self) -> bool:
        """Return whether its server can be told to let it think."""
        return self.server.record.mode.think is not None

    @property
    def learned_notices(self) -> list[str]:
        """Return notices on what calls have shown about its server, such as a missing feature."""
        return self.server.record.notices(self.name, self.thought_tokens)

    async def reply(
        self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None = None, think: bool = False
    ) -> Structured:
        """Return a reply with an object of the schema's type, of at most `longest` tokens; a malformed reply has no object.

        think: let it think before, if it can.

        ModelError if the model cannot be reached, ReplyError if it gives no usable reply.
        """

        async def attempt() -> Structured:
            async with self.cap:
                return await self._attempt(messages, schema, longest, think)

        return await with_retries(attempt, self.server)

    async def _attempt(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None, think: bool) -> Structured:
        """Make one call with an acquired slot; errors are those of the client, or WindowError if the prompt filled the window."""
        chat = self.chat if self.chats is None else await self.chats.get()
        limiter = self.cap.limiter
        async with limiter.track(self.server.timeout) as pending:
            reporting = ON_PROGRESS.set(pending.progress if self.server.reports_progress else None)
            try:
                asked = await self._call(chat, messages, schema, longest, think)
            except Exception as error:
                if pending.queued and classify(error) == "silent":
                    raise QueuedError from error
                raise
            finally:
                ON_PROGRESS.reset(reporting)
            limiter.mark_served(pending)
            self.server.record.answered = True
        await asyncio.to_thread(self._learn_count, asked.raw, messages)
        return asked

    async def _call(
        self, chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None, think: bool
    ) -> Structured:
        """Call without the features that the server refuses, and record refused features and the thinking mode."""
        record = self.server.record
        while True:
            mode = THINKING_ON if think and record.mode in (THINKING_OFF, OFF_WITHOUT_FORM) else record.mode
            refused = frozenset(record.refused)
            without: frozenset[Feature] = refused if mode.sends_schema else refused | {"form"}
            configured = chat
            if mode is not DEFAULT_MODE and self.num_predict is not None:
                configured = with_mode(chat, mode, longest or self.num_predict + self.thought_tokens)
            try:
                asked = await call_structured(configured, messages, schema, without)
            except Exception as error:
                if mode in MODE_ON_REFUSAL and refuses_thinking(error):
                    record.move(mode, MODE_ON_REFUSAL[mode])
                    continue
                feature = find_refused_feature(error, without) if self.server.remote else None
                if feature is None:
                    raise
                record.refused.add(feature)
                continue
            if self.num_predict is not None:
                record.move(mode, next_mode(mode, asked))
            return asked

    def _learn_count(self, raw: AIMessage, messages: Sequence[BaseMessage]) -> None:
        """Update the token counter from the reported tokens of a prompt; WindowError if they fill the window. Blocking.

        A low number is no evidence, since servers omit cached tokens. Whether a prompt fits is checked before it is sent.
        """
        reported_tokens = raw.usage_metadata["input_tokens"] if raw.usage_metadata else 0
        if not reported_tokens or raw.response_metadata.get("model_provider") not in ("ollama", "openai"):
            return
        window = self.num_ctx or math.inf
        if isinstance(self.count, LearnedCount):
            self.count.learn([message.text for message in messages], reported_tokens, filled=reported_tokens >= window)
            # Ollama continues to generate in a full window, and drops half of the prompt for it.
            window -= raw.usage_metadata["output_tokens"] if raw.usage_metadata and self.num_predict is not None else 0
        if reported_tokens >= window:
            what = f"{self.name} read {reported_tokens} prompt tokens: with the reply they do not fit into num_ctx {self.num_ctx}"
            raise WindowError(what, "raise num_ctx, or lower context_tokens")
