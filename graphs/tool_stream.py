"""The progress of a tool, for whoever streams the agent that called it."""

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime

from ramify.graphs.run import RunTracker, Watch, beginning
from ramify.nodes.tree import row

Tell = Callable[[dict[str, Any]], None]


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

    def tell(event: dict[str, Any]) -> None:
        told = {"tool": name, "question": question, **event}
        tool.stream_writer(told)
        tool.emit_output_delta(told)

    return ToolStream(tell, watch)


class ToolStream(RunTracker):
    """Tell of each step and branch that begins, each branch that changes, and the answer's text as far as it is written."""

    def __init__(self, tell: Tell, watch: Watch | None = None) -> None:
        super().__init__()
        self._event = tell
        self._watch = watch
        self._rows: dict[str, dict[str, Any]] = {}
        self._doing = ""

    def __call__(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take in an event of the run, and tell what it changes."""
        if self._watch is not None:
            self._watch(kind, event)
        text = self.text
        super().__call__(kind, event)
        doing = beginning(kind, event) or self._doing
        if doing != self._doing:
            self._event({"doing": doing})
        rows = {path: row(branch) for path, branch in self.tree.items()}
        for path, changed in rows.items():
            if self._rows.get(path) != changed:
                self._event({"branch": changed})
        self._doing, self._rows = doing, rows
        if self.text != text:
            self._event({"text": self.text})
