"""The config of a run inside a tool: the caller's handlers, streams, recursion limit and checkpointer."""

import asyncio
import hashlib
import json
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import DEFAULT_RECURSION_LIMIT
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.constants import CONFIG_KEY_CHECKPOINTER

from ramify.nodes.state import Citation, Search, Source, Usage
from ramify.nodes.tree import Branch, Passage

NAMESPACE = "checkpoint_ns"
NUMBERING = "__pregel_scratchpad"
"""Where LangGraph numbers the subgraphs of a task, in the order in which they begin: with parallel calls a matter of chance."""

TRUSTED = [(value.__module__, value.__name__) for value in (Branch, Citation, Passage, Search, Source, Usage)]
"""The classes in our checkpoints: the caller's list of those that may be read back need not name them."""


def tool_config(config: RunnableConfig, strategy: str, *asked: Any) -> RunnableConfig:
    """Return the config of a run in a tool: the caller's, without a recursion limit that nobody chose, in a namespace below the caller's.

    Outside a graph LangChain fills in a limit of its own. The namespace is named by what is asked: parallel calls keep apart, and the same
    call made again after a crash finds its own checkpoints.
    """
    given = config.copy()
    if given.get("recursion_limit") == DEFAULT_RECURSION_LIMIT and "langgraph_node" not in given.get("metadata", {}):
        del given["recursion_limit"]
    if (saver := _saver(config)) is not None:
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:32]
        below = f"{config['configurable'][NAMESPACE]}|{strategy}:{digest}"
        trusting = saver.with_allowlist(TRUSTED)
        given["configurable"] = {**config["configurable"], CONFIG_KEY_CHECKPOINTER: trusting, NAMESPACE: below, NUMBERING: None}
    return given


def threaded_config(config: RunnableConfig) -> RunnableConfig:
    """Return a config whose checkpointer can be used from another event loop than its own.

    It has none where its own loop waits for the call, because it could not answer.
    """
    saver = _saver(config)
    if saver is None:
        return config
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    stuck = running is not None and getattr(saver, "loop", None) is running
    return {**config, "configurable": {**config["configurable"], CONFIG_KEY_CHECKPOINTER: None if stuck else ThreadedSaver(saver)}}


class ThreadedSaver(BaseCheckpointSaver[Any]):
    """The asynchronous methods that a run needs, by the synchronous ones of another checkpointer, in threads."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self.saver = saver.with_allowlist(TRUSTED)
        super().__init__(serde=self.saver.serde)

    async def aget_tuple(self, *args: Any, **kwargs: Any) -> Any:
        """Read a checkpoint."""
        return await asyncio.to_thread(self.saver.get_tuple, *args, **kwargs)

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        """Write a checkpoint."""
        return await asyncio.to_thread(self.saver.put, *args, **kwargs)

    async def aput_writes(self, config: RunnableConfig, writes: Any, task_id: str, task_path: str = "") -> None:
        """Write what a task returned."""
        await asyncio.to_thread(self.saver.put_writes, config, writes, task_id, task_path)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the next version of a channel, as the checkpointer numbers them."""
        return self.saver.get_next_version(current, channel)


def _saver(config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
    saver = config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
    return saver if isinstance(saver, BaseCheckpointSaver) else None
