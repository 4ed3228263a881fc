"""The fault matrix: a mark names the fault that a test causes, and docs/faults.md is made from the marked tests that passed.

    @fault("documents", "an archive that expands to far more than its size", sees="the file named, skipped", kept="the other files", code=0)

Areas and faults are listed in `tests/fault_rows.py`; one that no passed test has fails a run with `--faults=check`.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fault_rows import ROWS

PAGE: Final = Path(__file__).parents[1] / "docs" / "faults.md"
PAGE_HEAD: Final = """## What happens when something breaks

The model's server, the index, a document, the disk, the process, a request. The columns:

* *seen*: what the user sees
* *kept*: what remains afterwards
* *code*: the exit code of the command, or the HTTP status
* *cases*: the number of tests, each with another combination of the fault with a protocol, strategy, file or interface

`make faults` writes this part of the page from the tests that passed (`pytest -m fault`). `make test-all` fails
if a row has no passed test.
"""
"""The beginning of the generated part; what stands above it is written by hand."""
TABLE_HEAD: Final = "| fault | seen | kept | code | cases | tests |\n|---|---|---|---|--:|---|"
Row = tuple[str, str, str, str, str]  # area, fault, seen, kept, code


def fault(area: str, name: str, *, sees: str, kept: str, code: int | str = 0) -> pytest.MarkDecorator:
    """Return a mark with the fault that a test causes, and its outcome."""
    if name not in ROWS.get(area, []):
        raise ValueError(f"no fault {name!r} in the area {area!r}: add it to tests/fault_rows.py")
    mark: pytest.MarkDecorator = pytest.mark.fault(area, name, sees, kept, str(code))
    return mark


class Matrix:
    """A plugin that collects the marked tests that passed, and writes the page or compares it."""

    def __init__(self, purpose: str) -> None:
        self.purpose = purpose
        self.passed: dict[Row, list[str]] = defaultdict(list)
        self.skipped = False
        self.problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the rows of a passed test."""
        for row in [row for key, row in report.user_properties if key == "fault"]:
            self.skipped |= report.skipped
            if report.when == "call" and report.passed:
                area, name, seen, kept, code = str(row).split("\t")
                self.passed[area, name, seen, kept, code].append(report.nodeid.partition("::")[0])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write or compare the page; fail the run where a row is missing or the page is not what the tests give."""
        found = {row[:2] for row in self.passed}
        problems = [
            f"no passed test for the fault {name!r} ({area})" for area, names in ROWS.items() for name in names if (area, name) not in found
        ]
        above, heading, below = PAGE.read_text(encoding="utf-8").partition(PAGE_HEAD.splitlines()[0])
        if self.purpose == "write":
            PAGE.write_text(above + page(self.passed), encoding="utf-8")
        elif not problems and self._compared(heading + below) != self._compared(page(self.passed)):
            problems.append(f"{PAGE.name} is not what the tests give: make faults")
        self.problems = problems
        if problems and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _compared(self, text: str) -> str:
        """Return what is compared of a page: all of it, or all but the numbers where a test was skipped, for want of a server."""
        return re.sub(r"\b\d+ cases\.|\| \d+ \| \[", "", text) if self.skipped else text

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what is missing."""
        for problem in self.problems:
            terminalreporter.write_line(f"fault matrix: {problem}", red=True)


def page(passed: Mapping[Row, Sequence[str]]) -> str:
    """Return the generated part of the page: a table for each area, in the order of the rows."""
    parts = [PAGE_HEAD]
    for area, names in ROWS.items():
        order = list(names)
        rows = sorted((row for row in passed if row[0] == area), key=lambda row: (order.index(row[1]), row))
        if not rows:
            continue
        lines = [_line(row, passed[row]) for row in rows]
        total = sum(len(passed[row]) for row in rows)
        body = "\n".join([TABLE_HEAD, *lines])
        parts.append(f"\n### {area.capitalize()}\n\n{total} cases.\n\n{body}\n")
    return "".join(parts)


def _line(row: Row, nodes: Sequence[str]) -> str:
    _, name, seen, kept, code = (part.replace("|", "\\|") for part in row)
    files = ", ".join(f"[{Path(file).stem.removeprefix('test_')}](../{file})" for file in sorted(set(nodes)))
    return f"| {name} | {seen} | {kept} | {code} | {len(nodes)} | {files} |"
