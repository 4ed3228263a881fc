"""What a run inside a tool takes over from its caller: handlers and streams, the limit of steps, and where checkpoints are kept."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import DEFAULT_RECURSION_LIMIT
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.constants import CONFIG_KEY_CHECKPOINTER

from ramify.nodes.state import Citation, Search, Source, Usage
from ramify.nodes.tree import Branch, Passage

NAMESPACE = "checkpoint_ns"
NUMBERING = "__pregel_scratchpad"
"""Where LangGraph numbers the subgraphs of a task, in the order in which they begin: with parallel calls a matter of chance."""

TRUSTED = [(value.__module__, value.__name__) for value in (Branch, Citation, Passage, Search, Source, Usage)]
"""What a checkpoint of ours is made of: the caller's list of classes that may be read back need not name them."""


def inherited(config: RunnableConfig, strategy: str, *asked: Any) -> RunnableConfig:
    """Take over the caller's callbacks, tags, metadata and streams, its recursion limit, and its checkpointer if it has one.

    Outside a graph LangChain fills in a limit of its own, which nobody chose. Checkpoints lie in a namespace below the caller's, named by
    what is asked: parallel calls keep apart, and the same call made again after a crash finds its own.
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


def in_threads(config: RunnableConfig) -> RunnableConfig:
    """Reach the caller's checkpointer from an event loop that is not its own: by its synchronous methods, in threads.

    None is taken over where its own loop is the one that waits for us: it could not answer.
    """
    saver = _saver(config)
    if saver is None:
        return config
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    stuck = running is not None and getattr(saver, "loop", None) is running
    return {**config, "configurable": {**config["configurable"], CONFIG_KEY_CHECKPOINTER: None if stuck else InThreads(saver)}}


class InThreads(BaseCheckpointSaver[Any]):
    """A checkpointer with the asynchronous face that our steps need, whatever face it has itself."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=saver.serde)
        self.saver = saver

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Read a checkpoint."""
        return await asyncio.to_thread(self.saver.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints."""
        for kept in await asyncio.to_thread(lambda: list(self.saver.list(config, filter=filter, before=before, limit=limit))):
            yield kept

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Keep a checkpoint."""
        return await asyncio.to_thread(self.saver.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Keep what a task wrote."""
        await asyncio.to_thread(self.saver.put_writes, config, writes, task_id, task_path)

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Number a version as the checkpointer does."""
        return self.saver.get_next_version(current, channel)

    def with_allowlist(self, extra_allowlist: Any) -> "InThreads":
        """Trust more classes when reading back."""
        return InThreads(self.saver.with_allowlist(extra_allowlist))


def _saver(config: RunnableConfig) -> BaseCheckpointSaver[Any] | None:
    saver = config.get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
    return saver if isinstance(saver, BaseCheckpointSaver) else None
