"""The tests of a collection that is served: a file of expectations that is run over it, and what came of the last run."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

from ramify.serve.questions import to_failure
from ramify.testing.expectations import load_expectations
from ramify.testing.reports import counts_line, detail_lines
from ramify.testing.running import Outcome, TestRun, last_outcomes
from ramify.testing.stored_results import ResultsFile
from ramify.tools.quoting import hide_folders


class CollectionTests:
    """A file of expectations over a collection.

    options: those of `ask`; beside model and index, they count for the strategies that have them. strategy: before that of the file.
    """

    def __init__(self, file: Path, options: Mapping[str, Any], strategy: str | None = None) -> None:
        self.file = file
        self.slot: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
        """Held while a question is asked."""
        self._options, self._strategy = options, strategy
        self._outcomes: dict[str, Outcome] = {}
        self._total = 0
        self._problem = ""
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._load()

    def _load(self) -> TestRun:
        """Read the file, and what came of its tests the last time; UsageError if it cannot be read."""
        expectations, results = load_expectations(self.file), ResultsFile(self.file)
        results.keep_only({test.question for test in expectations.tests})
        self._outcomes = {outcome.test.question: outcome for outcome in last_outcomes(expectations, results)}
        self._total = len(expectations.tests)
        given = {name: self._options[name] for name in ("model", "index") if name in self._options}
        return TestRun(expectations, results, given, self._strategy, defaults=self._options, slot=self.slot)

    @property
    def running(self) -> bool:
        """Return whether the tests are being run."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Run the tests in the background; once more after the run that is going on, if there is one."""
        self._again = self.running
        if not self.running:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop a run; what it has asked is stored."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            self._again, self._problem = False, ""
            try:
                run = await asyncio.to_thread(self._load)
                await run.run_async(run.expectations.tests, self._take)
            except Exception as error:  # noqa: BLE001 - shown on the page
                self._problem = hide_folders(to_failure(error).message)
            if not self._again:
                return

    def _take(self, outcome: Outcome) -> None:
        self._outcomes[outcome.test.question] = outcome

    def to_json(self) -> dict[str, Any]:
        """Return the state of the tests: the counts, and each test that has been run with what did not hold or has moved."""
        outcomes = list(self._outcomes.values())
        is_complete = not self._problem and len(outcomes) == self._total
        return {
            "file": self.file.name,
            "running": self.running,
            "summary": counts_line(outcomes, self._total - len(outcomes)),
            "passed": is_complete and all(outcome.holds for outcome in outcomes),
            "problem": self._problem,
            "tests": [
                {"question": outcome.test.question, "status": outcome.status, "details": [*map(hide_folders, detail_lines(outcome))]}
                for outcome in outcomes
            ],
        }
