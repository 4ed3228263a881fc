"""What a question lost on its way: calls of the model that came to nothing."""

from typing import Any

from ramify.graphs import Result
from ramify.nodes.tree import ROOT, is_unknown


class Losses:
    """Watch a question; a branch that was lost to a mishap makes its answer another than it would have been.

    A budget that is used up is no loss: it is a setting. Nor is a malformed reply: what a model says badly, it says badly every time.
    """

    def __init__(self) -> None:
        self._mishaps: list[str] = []
        self._malformed: list[str] = []

    def __call__(self, kind: str, event: Any) -> None:
        """Take note of a task that failed."""
        if kind != "tasks":
            return
        if error := event.get("error"):
            self._mishaps.append(f"{type(error).__name__}: {error}")
        ended = event.get("result")
        told = ended.get("__return__") if isinstance(ended, dict) else None
        if isinstance(told, dict) and told.get("failure") and not told.get("limit"):
            (self._malformed if told["malformed"] else self._mishaps).append(told["failure"])

    def failure(self, result: Result) -> str | None:
        """Say why the question counts as failed; nothing where it was answered as it would be again."""
        if self._mishaps:
            return self._mishaps[0]
        unanswered = is_unknown(result.answer) and (result.stopped_by == "error" or result.tree[ROOT].status == "failed")
        return self._malformed[0] if self._malformed and unanswered else None
