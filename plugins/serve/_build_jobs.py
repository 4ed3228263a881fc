"""Builds of the indexes of collections: their progress, and their result as JSON values."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from ramify.serve.questions import Event
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index.build import Built

MAX_LISTED = 2000
"""Maximum number of documents in a list."""
DOCUMENTS = "documents"
"""The unit of the progress of reading."""
REPORT_INTERVAL_S = 0.2
"""Seconds between two progress events of a build."""
MAX_DOCUMENTS = 100_000
"""Maximum number of uploaded documents, each record of a table counted: one build runs at a time, and the others wait for it."""
MIN_RATE_TIME_S = 1.0
"""Seconds after which a rate is reported."""


class BuildJob:
    """A running or finished build: its progress and its result. It is the progress callback of `Index.build`, which runs in a thread."""

    def __init__(self, max_documents: int | None = None, on_stored: Callable[[], None] = lambda: None) -> None:
        self.stopped = False
        self._on_stored = on_stored
        """Called when the passages can be searched by words."""
        self.end: Event | None = None
        """The event with the result or error; None while the build runs."""
        self._max_documents = max_documents
        self._progress: dict[str, Any] = {}
        self._started = time.monotonic()
        self._unit = ""

    def __call__(self, done: int, total: int | None, unit: str) -> None:
        """Record the progress; raise RamifyError if the build is to stop, UsageError if there are too many documents."""
        if self.stopped:
            raise RamifyError("indexing was stopped", "index again: it resumes where it stopped")
        if self._max_documents is not None and unit == DOCUMENTS and done > self._max_documents:
            raise UsageError(
                f"there are more than {self._max_documents:,} documents (each record of a table is one)",
                "delete some, such as the largest table, or ask the operator of the server to index them with `ramify index`",
            )
        now = time.monotonic()
        if unit != self._unit:
            self._unit, self._started = unit, now
            if unit == "passages":
                self._on_stored()
        rate = round(done / (now - self._started), 3) if done and now - self._started >= MIN_RATE_TIME_S else None
        remaining = round((total - done) / rate, 1) if total is not None and rate else None
        self._progress = {"unit": unit, "done": done, "total": total, "rate": rate, "rest_s": remaining}

    async def events(self) -> AsyncIterator[Event]:
        """Yield progress events, and at the end the event `built` or `error`."""
        reported: dict[str, Any] = {}
        while self.end is None:
            if self._progress != reported:
                yield Event("progress", reported := self._progress)
            await asyncio.sleep(REPORT_INTERVAL_S)
        yield self.end


def build_summary(summary: Built) -> dict[str, Any]:
    """Return what a build did as JSON values."""
    names = ("added", "changed", "unchanged", "removed", "documents", "files", "passages", "reread", "seconds")
    skipped = [{"name": name, "reason": reason} for name, reason in summary.skipped[:MAX_LISTED]]
    return {**{name: getattr(summary, name) for name in names}, "skipped": skipped}
