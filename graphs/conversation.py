"""Conversations: follow-up questions on a thread, and the list of stored threads."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore
from langgraph.types import StateSnapshot

from ramify.graphs.choice import choose_strategy
from ramify.graphs.conditions import follow_up, person_unknown
from ramify.graphs.editing import Edit, fork_run
from ramify.graphs.memory import memory_address, open_memory
from ramify.graphs.run import Result, Reviewer, Watch, blocking, check_reviewer, run_graph, with_review_memory
from ramify.graphs.strategies import DEFAULT, build, configure
from ramify.graphs.wiring import END, START, Wiring
from ramify.nodes.conversation import append_answer, ask_back, contextualize, read_input
from ramify.nodes.init_tree import init_tree, validate_question
from ramify.nodes.settings import Settings
from ramify.nodes.state import MARK, ChatInput, ConversationOutput
from ramify.nodes.step.langgraph import unread_messages
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.models import clear_cache
from ramify.tools.user_input import check_text

THREADS = ("ramify", "threads")
"""The store's namespace with the list of conversations."""
RATINGS = ("ramify", "ratings")
"""The store's namespace with the ratings of answers."""
_PAGE_SIZE = 1000
"""Conversations that are read in one query."""


class Thread(NamedTuple):
    """A stored conversation: its name, first question, answered turns, last strategy, and the time of the last question."""

    name: str
    first: str
    turns: int
    strategy: str
    asked: str


async def record_thread(store: BaseStore, thread: str, question: str, strategy: str, turns: int | None = None) -> None:
    """Add a conversation to the list, or update it; its first question stays, and its turns if none are given."""
    stored = await store.aget(THREADS, thread)
    entry = stored.value if stored else {"first": question, "turns": 0}
    asked = datetime.now(UTC).isoformat(timespec="seconds")
    answered = entry["turns"] if turns is None else turns
    await store.aput(THREADS, thread, {"first": entry["first"], "turns": answered, "strategy": strategy, "asked": asked})


async def load_threads(where: str) -> list[Thread]:
    """Return the conversations of a memory, the latest first."""
    threads: list[Thread] = []
    async with open_memory(where) as memory:
        while page := await memory.store.asearch(THREADS, limit=_PAGE_SIZE, offset=len(threads)):
            threads += [Thread(name=item.key, **item.value) for item in page]
    return sorted(threads, key=lambda thread: thread.asked, reverse=True)


async def delete_thread(where: str, thread: str) -> bool:
    """Delete a conversation with its questions, answers and passages; return whether it was listed."""
    async with open_memory(where) as memory:
        stored = await memory.store.aget(THREADS, thread)
        await memory.saver.adelete_thread(thread)
        await memory.store.adelete(THREADS, thread)
        await memory.store.adelete(RATINGS, thread)
    return stored is not None


S = TypeVar("S", bound=Settings)


def with_conversation(wiring: Wiring[S]) -> Wiring[S]:
    """Add the steps of a conversation to a new wiring and return it: read_input, contextualize (for a follow-up) and append_answer.

    If a pronoun refers to a person and nobody was mentioned, the turn asks for clarification instead of answering. The graph's input is a
    question or messages, and its state keeps the messages.
    """
    [(_, first)] = wiring.edges.pop(init_tree.name)
    wiring.edges.pop(START)
    wiring.edges.pop(wiring.last_step)
    wiring.input_schema, wiring.output_schema = ChatInput, ConversationOutput
    wiring.path(START, read_input, init_tree)
    wiring.when(init_tree, {person_unknown: ask_back, follow_up: contextualize}, otherwise=wiring.steps[first])
    wiring.when(contextualize, {person_unknown: ask_back}, otherwise=wiring.steps[first])
    wiring.path(ask_back, append_answer)
    wiring.path(wiring.last_step, append_answer, END)
    wiring.conversation_steps = frozenset(step.name for step in (read_input, contextualize, ask_back, append_answer))
    return wiring


@cache
def _conversation_wiring(name: str, **arguments: Any) -> Wiring[Any]:
    return with_conversation(build(name, **arguments))


class Conversation:
    """A conversation, whose questions may refer to earlier turns.

    The turns are stored in this object; with `memory`, the address of a PostgreSQL database or sqlite:FILE, they are stored there under
    the name `thread`, where another process can resume them.
    """

    def __init__(self, memory: str | None = None, thread: str | None = None) -> None:
        self.memory = memory if memory is None else memory_address(memory)
        self.thread = check_text(thread or "") or datetime.now().strftime("%Y-%m-%d-%H%M%S")
        self.strategy: str | None = None
        """The strategy of the thread's last question, once it is loaded."""
        self.messages: list[AnyMessage] = []

    @property
    def turns(self) -> int:
        """Count the questions that were answered."""
        return _answered_turns(self.messages)

    async def ask_async(
        self,
        question: str,
        strategy: str | None = None,
        watch: Watch | None = None,
        config: RunnableConfig | None = None,
        reviewer: Reviewer | None = None,
        **options: Any,
    ) -> Result:
        """Answer a question in the context of the earlier ones, like `ask_async`; a failed or cancelled turn leaves no answer.

        The result's question is the rewritten one.
        """
        clear_cache()  # a model's server may have been started since the last turn
        if strategy is None:
            strategy = await asyncio.to_thread(choose_strategy, options)
        return await self._turn(validate_question(question), strategy, watch, config, reviewer, options)

    def ask(
        self,
        question: str,
        strategy: str | None = None,
        watch: Watch | None = None,
        reviewer: Reviewer | None = None,
        **options: Any,
    ) -> Result:
        """Answer a question from synchronous code, also where an event loop is already running."""
        return blocking(self.ask_async(question, strategy, watch, reviewer=reviewer, **options))

    async def recall_async(self) -> str | None:
        """Load the messages of the thread; return its interrupted question, None if there is none."""
        if self.memory is None:
            return None
        async with open_memory(self.memory) as memory:
            listed = await memory.store.aget(THREADS, self.thread)
            self.strategy = str(listed.value["strategy"]) if listed else None
            snapshot = (
                await _conversation_wiring(self.strategy or DEFAULT).compile(checkpointer=memory.saver).aget_state(self._config(None))
            )
            unread = await _pending_messages(memory.saver, snapshot)
        self.messages = snapshot.values.get("messages", [])
        if unread:
            return unread[-1].text
        return str(snapshot.values.get("question") or "") or None if snapshot.tasks else None  # `next` lacks a step whose result is kept

    def recall(self) -> str | None:
        """Load the messages of the thread, from synchronous code."""
        return blocking(self.recall_async())

    async def resume_async(
        self,
        strategy: str | None = None,
        watch: Watch | None = None,
        config: RunnableConfig | None = None,
        reviewer: Reviewer | None = None,
        **options: Any,
    ) -> Result:
        """Resume the interrupted question, with the strategy it was started with; UsageError if there is none.

        Finished calls are not repeated; undecided reviews are.
        """
        if self.memory is None or await self.recall_async() is None:
            raise UsageError("no question was interrupted", "ask one")
        if strategy not in (None, self.strategy):
            what = f"the question was started with strategy={self.strategy}, not {strategy}"
            raise UsageError(what, f"resume with strategy={self.strategy}, or ask a new question")
        return await self._turn(None, self.strategy or DEFAULT, watch, config, reviewer, options)

    def resume(self, strategy: str | None = None, watch: Watch | None = None, reviewer: Reviewer | None = None, **options: Any) -> Result:
        """Resume an interrupted question from synchronous code."""
        return blocking(self.resume_async(strategy, watch, reviewer=reviewer, **options))

    async def edit_async(
        self, edit: Edit, watch: Watch | None = None, config: RunnableConfig | None = None, reviewer: Reviewer | None = None, **options: Any
    ) -> Result:
        """Edit a branch in the tree of the last question and run from there; the new answer replaces the earlier one.

        The strategy is that of the question; settings must be passed again. UsageError if the branch cannot be edited.
        """
        if self.memory is None:
            raise UsageError("this conversation is not stored, and only stored runs can be edited", "pass memory=…")
        await self.recall_async()
        if self.strategy is None:
            raise UsageError(f"there is no conversation {self.thread!r}", "ask its first question")
        clear_cache()
        return await self._turn(None, self.strategy, watch, config, reviewer, options, edit)

    async def _turn(
        self,
        question: str | None,
        strategy: str,
        watch: Watch | None,
        config: RunnableConfig | None,
        reviewer: Reviewer | None,
        options: Mapping[str, Any],
        edit: Edit | None = None,
    ) -> Result:
        """Run a turn; without a question, the rest of an interrupted or edited one. The thread is listed before it runs."""
        wiring, settings = configure(strategy, options, _conversation_wiring)
        asked = [HumanMessage(question)] if question else []
        if self.memory is None:
            messages = [*self.messages, *asked]
            graph, config = with_review_memory(wiring, settings, config, reviewer)
            result, state = await run_graph(graph, {"messages": messages}, strategy, settings, watch, config, reviewer)
        else:
            check_reviewer(settings, reviewer)
            ended: tuple[Result, dict[str, Any]] | None = None
            try:
                async with open_memory(self.memory) as memory:
                    compiled = wiring.compile(checkpointer=memory.saver, store=memory.store)
                    await record_thread(memory.store, self.thread, question or "", strategy)
                    run_config = self._config(config if edit is None else await fork_run(wiring, compiled, self._config(config), edit))
                    ended = await run_graph(
                        compiled, {"messages": asked} if asked else None, strategy, settings, watch, run_config, reviewer
                    )
                    await record_thread(memory.store, self.thread, question or "", strategy, _answered_turns(ended[1]["messages"]))
            except RamifyError as error:
                if ended is None:
                    raise
                notice = f"the answer is stored, but the list of conversations will count it only with the next one: {error}"
                notices = [*ended[0].notices, notice]
                if watch is not None:
                    watch("values", {**ended[1], "notices": notices})
                ended = ended[0].model_copy(update={"notices": notices}), ended[1]
            result, state = ended
        self.messages = state["messages"]
        return result

    def _config(self, config: RunnableConfig | None) -> RunnableConfig:
        outer = config or {}
        return {**outer, "configurable": {**outer.get("configurable", {}), "thread_id": self.thread}}


async def _pending_messages(saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot) -> list[AnyMessage]:
    """Return the messages of a question that no step has read yet; empty if there is none."""
    steps = {task.name for task in snapshot.tasks}
    if START in steps and (checkpoint := await saver.aget_tuple(snapshot.config)):
        return unread_messages(checkpoint.checkpoint)
    return list(snapshot.values["messages"]) if read_input.name in steps else []


def _answered_turns(messages: list[AnyMessage]) -> int:
    """Return the number of answered turns, without those that asked for clarification."""
    return sum(isinstance(message, AIMessage) and not (message.additional_kwargs.get(MARK) or {}).get("asked_back") for message in messages)
