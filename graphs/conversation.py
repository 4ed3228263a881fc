"""A conversation: any strategy, with follow-ups made self-contained first and the turns kept."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from ramify.graphs.conditions import follow_up, nobody_known
from ramify.graphs.memory import memory_address, note, opened, strategy_of
from ramify.graphs.result import Result
from ramify.graphs.run import Watch, blocking, run_graph
from ramify.graphs.strategies import DEFAULT, build, configure
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.append_answer import append_answer
from ramify.nodes.ask_back import ask_back
from ramify.nodes.contextualize import contextualize
from ramify.nodes.init_tree import checked, init_tree
from ramify.nodes.read_input import read_input
from ramify.nodes.settings import Settings
from ramify.nodes.state import ChatInput, Replied
from ramify.nodes.state.turns import MARK
from ramify.tools.errors import UsageError
from ramify.tools.models import forget
from ramify.tools.typed import readable

S = TypeVar("S", bound=Settings)


def with_conversation(wiring: Wiring[S]) -> Wiring[S]:
    """Add the steps of a conversation to a new wiring and return it: read_input, contextualize (for a follow-up) and append_answer.

    Where a pronoun stands for a person and none is known, the turn asks back instead of answering. The graph's input is a question or
    messages, and its state keeps the messages.
    """
    [(_, first)] = wiring.edges.pop(init_tree.name)
    wiring.edges.pop(START)
    wiring.edges.pop(wiring.last)
    wiring.exchange(ChatInput, Replied)
    wiring.path(START, read_input, init_tree)
    wiring.when(init_tree, {nobody_known: ask_back, follow_up: contextualize}, otherwise=wiring.steps[first])
    wiring.path(contextualize, first)
    wiring.path(ask_back, append_answer)
    wiring.path(wiring.last, append_answer, END)
    return wiring


@cache
def _wired(name: str, **arguments: Any) -> Wiring[Any]:
    return with_conversation(build(name, **arguments))


class Conversation:
    """The turns of a conversation, so that a question may refer to those before it.

    They are kept in this object; with `memory`, the address of a PostgreSQL database or sqlite:FILE, on the thread of that name there,
    where another process can resume them.
    """

    def __init__(self, memory: str | None = None, thread: str | None = None) -> None:
        self.memory = memory if memory is None else memory_address(memory)
        self.thread = readable(thread or "") or datetime.now().strftime("%Y-%m-%d-%H%M%S")
        self.strategy: str | None = None
        """The one that the thread was last asked with, once it is recalled."""
        self.messages: list[AnyMessage] = []

    @property
    def turns(self) -> int:
        """Count the questions that were answered."""
        return _answered(self.messages)

    async def ask_async(
        self, question: str, strategy: str = DEFAULT, watch: Watch | None = None, config: RunnableConfig | None = None, **options: Any
    ) -> Result:
        """Answer a question in the light of the earlier ones, as `ask_async` does; a turn that fails or is cancelled leaves no answer.

        The result's question is the one that was understood.
        """
        forget()  # a model's server may have come up since the last turn
        return await self._turn(checked(question), strategy, watch, config, options)

    def ask(self, question: str, strategy: str = DEFAULT, watch: Watch | None = None, **options: Any) -> Result:
        """Answer a question from synchronous code, also where an event loop is already running."""
        return blocking(self.ask_async(question, strategy, watch, **options))

    async def recall_async(self) -> str | None:
        """Read the messages of the thread; return the question whose answering was interrupted, None where there is none."""
        if self.memory is None:
            return None
        async with opened(self.memory) as memory:
            self.strategy = await strategy_of(memory.store, self.thread)
            held = await _wired(self.strategy or DEFAULT).compile(checkpointer=memory.saver).aget_state(self._config(None))
        self.messages = held.values.get("messages", [])
        return str(held.values.get("question") or "") or None if held.next else None

    def recall(self) -> str | None:
        """Read the messages of the thread, from synchronous code."""
        return blocking(self.recall_async())

    async def resume_async(
        self, strategy: str | None = None, watch: Watch | None = None, config: RunnableConfig | None = None, **options: Any
    ) -> Result:
        """Resume the question whose answering was interrupted, with the strategy it was begun with; UsageError where there is none.

        What was answered of it is not asked again.
        """
        if self.memory is None or await self.recall_async() is None:
            raise UsageError("no question was interrupted", "ask one")
        if strategy not in (None, self.strategy):
            raise UsageError(f"the question was begun with {self.strategy}, not {strategy}", f"go on with {self.strategy}, or ask anew")
        return await self._turn(None, self.strategy or DEFAULT, watch, config, options)

    def resume(self, strategy: str | None = None, watch: Watch | None = None, **options: Any) -> Result:
        """Resume an interrupted question from synchronous code."""
        return blocking(self.resume_async(strategy, watch, **options))

    async def _turn(
        self, question: str | None, strategy: str, watch: Watch | None, config: RunnableConfig | None, options: Mapping[str, Any]
    ) -> Result:
        """Run a turn, without a question the rest of an interrupted one; the list of threads names it from its beginning."""
        wiring, settings = configure(strategy, options, _wired)
        asked = [HumanMessage(question)] if question else []
        if self.memory is None:
            messages = [*self.messages, *asked]
            result, state = await run_graph(wiring.ready, {"messages": messages}, strategy, settings, watch, config)
        else:
            async with opened(self.memory) as memory:
                graph = wiring.compile(checkpointer=memory.saver, store=memory.store)
                await note(memory.store, self.thread, question or "", strategy)
                given = {"messages": asked} if asked else None
                result, state = await run_graph(graph, given, strategy, settings, watch, self._config(config))
                await note(memory.store, self.thread, question or "", strategy, _answered(state["messages"]))
        self.messages = state["messages"]
        return result

    def _config(self, config: RunnableConfig | None) -> RunnableConfig:
        given = config or {}
        return {**given, "configurable": {**given.get("configurable", {}), "thread_id": self.thread}}


def _answered(messages: list[AnyMessage]) -> int:
    """Count the turns that were answered, without those that only asked back."""
    return sum(isinstance(message, AIMessage) and not (message.additional_kwargs.get(MARK) or {}).get("asked_back") for message in messages)
