"""A chat model as the toolkit uses it: capped, counted, and answering with values."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import BaseModel

from ramify.tools.errors import WindowError
from ramify.tools.models.caches import PerLoop
from ramify.tools.models.concurrency import Cap
from ramify.tools.models.learned_tokens import LearnedCount
from ramify.tools.models.reply_parsing import Structured
from ramify.tools.models.server_errors import QueuedError, Server, refusal, refuses_thinking, sturdy, tell
from ramify.tools.models.server_load import times
from ramify.tools.models.structured_call import PLAIN, REFUSED, Feature, allowance, asking, call, following
from ramify.tools.models.tokens import Count


@dataclass(frozen=True)
class ModelOptions:
    """How a model is reached and sampled; the names and defaults are those of the settings."""

    base_url: str | None = None
    temperature: float = 0.0
    seed: int = 0
    num_ctx: int = 8192
    num_predict: int = 512
    timeout: float = 120.0
    keep_alive: str = "10m"
    max_concurrency: int | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """A chat model that is ready to be asked."""

    name: str
    chat: BaseChatModel = field(repr=False)  # some clients print their keys
    count: Count = field(repr=False)
    """Counts a text's tokens; it may ask the model's server, so call it outside the event loop."""
    cap: Cap = field(repr=False)
    num_ctx: int | None
    """Tokens of prompt and reply together; none where the model has no such limit."""
    server: Server = field(repr=False)
    notice: str | None = None
    """What the user should know: that another model was taken than the one hoped for."""
    load: Callable[[], float] = field(default=lambda: 0.0, repr=False)
    """Loads what it needs in this process and gives the seconds that took, 0 where all was there; blocking."""
    client_s: float = field(default=0.0, repr=False)
    """Seconds that its client took to be imported and made: whoever waited for that was loading."""
    chats: PerLoop[BaseChatModel] | None = field(default=None, repr=False)
    """The same model for each event loop, where it holds connections."""
    num_predict: int | None = None
    """Tokens of a reply, where they are ours to set."""

    @property
    def thought_tokens(self) -> int:
        """Tell how many tokens a reply may take beside `num_predict`, because the model thinks first."""
        return allowance(self.num_ctx) if self.num_predict is not None and self.server.record.way.thinks else 0

    @property
    def notices(self) -> list[str]:
        """Say what the user should know of it before it is asked."""
        return [self.notice] if self.notice else []

    @property
    def told(self) -> list[str]:
        """Say what its server is asked otherwise than meant, as far as calls have shown it."""
        return self.server.record.notices(self.name, self.thought_tokens)

    async def reply(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None = None) -> Structured:
        """Ask for an object of the schema's type, in at most `longest` tokens; a malformed reply comes back without one.

        ModelError where the model cannot be reached, ReplyError where no usable reply came.
        """
        return await sturdy(lambda: self._in_turn(messages, schema, longest), self.server)

    async def _in_turn(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None) -> Structured:
        async with self.cap:
            return await self.attempt(messages, schema, longest)

    async def attempt(self, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None) -> Structured:
        """Make one call, for which a place was taken; what goes wrong is raised as the client raises it.

        WindowError where the prompt filled the window.
        """
        chat = self.chat if self.chats is None else await self.chats.here()
        async with self.cap.gate.turns.take(self.server.timeout) as turn:
            try:
                asked = await self._whatever_is_refused(chat, messages, schema, longest)
            except Exception as error:
                if turn.queued and tell(error) == "silent":
                    raise QueuedError from error
                raise
            self.cap.gate.turns.served(turn)
            if self.cap.limit is None and (told := times(asked.raw, turn.sent)):
                self.cap.gate.pace.learn(told)
            self.server.record.answered = True
        await asyncio.to_thread(self._read_count, asked.raw, messages)
        return asked

    async def _whatever_is_refused(
        self, chat: BaseChatModel, messages: Sequence[BaseMessage], schema: type[BaseModel], longest: int | None
    ) -> Structured:
        """Ask without what the server is known to refuse, or turns out to; by another way next time, where the reply shows the need."""
        record = self.server.record
        while True:
            way, refused = record.way, frozenset(record.refused)
            without: frozenset[Feature] = refused if way.in_form else refused | {"form"}
            as_told = chat
            if way is not PLAIN and self.num_predict is not None:
                as_told = asking(chat, way, longest or self.num_predict + self.thought_tokens)
            try:
                asked = await call(as_told, messages, schema, without)
            except Exception as error:
                if way in REFUSED and refuses_thinking(error):
                    record.move(way, REFUSED[way])
                    continue
                feature = refusal(error) if self.server.remote else None
                if feature is None or feature in without:
                    raise
                record.refused.add(feature)
                continue
            if self.num_predict is not None:
                record.move(way, following(way, asked))
            return asked

    def _read_count(self, raw: AIMessage, messages: Sequence[BaseMessage]) -> None:
        """Learn from the tokens that the server reports of a prompt; WindowError where they fill its window. Blocking.

        A low number says nothing: servers leave out what they had read before. Whether a prompt fits is decided before it is sent.
        """
        told = raw.usage_metadata["input_tokens"] if raw.usage_metadata else 0
        if not told or raw.response_metadata.get("model_provider") not in ("ollama", "openai"):
            return
        window = self.num_ctx or math.inf
        if isinstance(self.count, LearnedCount):
            self.count.learn([message.text for message in messages], told, filled=told >= window)
            # Ollama goes on writing in a full window, and drops half of what it read for it.
            window -= raw.usage_metadata["output_tokens"] if raw.usage_metadata and self.num_predict is not None else 0
        if told >= window:
            what = f"{self.name} read {told} tokens of a prompt: beside its reply it does not fit into num_ctx {self.num_ctx}"
            raise WindowError(what, "raise num_ctx, or lower context_tokens")
