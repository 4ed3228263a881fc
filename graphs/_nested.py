"""Runs inside a larger graph: configuration, and progress in that graph's stream."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.runtime import get_runtime

from ramify.graphs.run import RunTracker, Watch, describe_start
from ramify.nodes.state import CHECKPOINT_CLASSES
from ramify.nodes.step.langgraph import checkpointer_of, in_namespace, with_checkpointer, without_default_limit
from ramify.nodes.tree import to_row

Emit = Callable[[dict[str, Any]], None]


def tool_config(config: RunnableConfig, strategy: str, *asked: Any) -> RunnableConfig:
    """Return the config of a run in a tool: the caller's, without a default recursion limit, in a namespace below the caller's.

    Outside a graph LangChain fills in a limit of its own. The namespace is named after the question: parallel calls are separate, and a
    call repeated after a crash finds its checkpoints.
    """
    run_config = without_default_limit(config)
    if (saver := checkpointer_of(config)) is None:
        return run_config
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()[:32]
    return in_namespace(run_config, f"{strategy}:{digest}", saver.with_allowlist(CHECKPOINT_CLASSES))


def threaded_config(config: RunnableConfig) -> RunnableConfig:
    """Return a config whose checkpointer can be used from another event loop than its own.

    It has none if its own loop is blocked by the call.
    """
    saver = checkpointer_of(config)
    if saver is None:
        return config
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    stuck = running is not None and getattr(saver, "loop", None) is running
    return with_checkpointer(config, None if stuck else ThreadedSaver(saver))


class ThreadedSaver(BaseCheckpointSaver[Any]):
    """A checkpointer whose asynchronous methods call the synchronous ones of another, in threads."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self.saver = saver.with_allowlist(CHECKPOINT_CLASSES)
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


def tool_stream(config: RunnableConfig, name: str, question: str, watch: Watch | None) -> Watch | None:
    """Return a watch that streams a tool's progress from the graph that called the tool; `watch` itself outside of a graph.

    Events go to `stream_mode="custom"` and, as the tool's output deltas, to `stream_mode="tools"`.
    """
    runtime = get_runtime()
    if runtime is None:
        return watch
    from langchain.tools import ToolRuntime  # imports much that a question outside of an agent does not need

    tool = ToolRuntime(
        state=None, context=runtime.context, config=config, stream_writer=runtime.stream_writer, tool_call_id=None, store=runtime.store
    )

    def emit(event: dict[str, Any]) -> None:
        progress = {"tool": name, "question": question, **event}
        tool.stream_writer(progress)
        tool.emit_output_delta(progress)

    return ToolStream(emit, watch)


class ToolStream(RunTracker):
    """Emits an event for each started step or branch, each changed branch, and the answer's text as it is generated."""

    def __init__(self, emit: Emit, watch: Watch | None = None) -> None:
        super().__init__()
        self._emit = emit
        self._watch = watch
        self._rows: dict[str, dict[str, Any]] = {}
        self._doing = ""

    def __call__(self, kind: str, event: Mapping[str, Any]) -> None:
        """Process an event of the run, and emit the changes."""
        if self._watch is not None:
            self._watch(kind, event)
        text = self.text
        super().__call__(kind, event)
        doing = describe_start(kind, event) or self._doing
        if doing != self._doing:
            self._emit({"doing": doing})
        rows = {path: to_row(branch) for path, branch in self.tree.items()}
        for path, changed in rows.items():
            if self._rows.get(path) != changed:
                self._emit({"branch": changed})
        self._doing, self._rows = doing, rows
        if self.text != text:
            self._emit({"text": self.text})
