"""Which tests are slow: those of which a case takes longer than LIMIT on average. `make slow` measures all and writes `slow.txt` anew.

What a file's tests share is set up by the first of them: its time counts as that of all. Measure on an idle machine.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest

from tests.sharing import REAL_FILES, SLOW_TESTS_FILE

LIMIT = 0.5
"""Seconds of a case."""


class Durations:
    """Listens to the reports of a session, and writes the list at its end."""

    def __init__(self) -> None:
        self.setup: Counter[str] = Counter()
        self.own: Counter[str] = Counter()
        self.cases: dict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a phase of a case."""
        test = report.nodeid.partition("[")[0]
        self.cases[test].add(report.nodeid)
        if report.when == "setup":
            self.setup[test.partition("::")[0]] += report.duration
        else:
            self.own[test] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Write the list."""
        SLOW_TESTS_FILE.write_text("".join(f"{name}\n" for name in self.slow()), encoding="utf-8")

    def slow(self) -> Iterator[str]:
        """List the slow tests in order; a file of which all are, by its name alone."""
        files: dict[str, list[str]] = defaultdict(list)
        for test in sorted(self.cases):
            files[test.partition("::")[0]].append(test)
        for file, tests in files.items():
            shared = self.setup[file] / sum(len(self.cases[test]) for test in tests)
            slow = [test for test in tests if shared + self.own[test] / len(self.cases[test]) > LIMIT]
            if file not in REAL_FILES:
                yield from [file] if slow == tests else slow
