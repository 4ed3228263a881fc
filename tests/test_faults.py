"""The check of the fault matrix can fail: an unknown fault, a row that nobody tests, a page that is not what the tests give."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests import faults
from tests.fault_rows import ROWS
from tests.faults import Matrix, fault


def finished(matrix: Matrix) -> Any:
    session: Any = SimpleNamespace(exitstatus=0)
    matrix.pytest_sessionfinish(session)
    return session.exitstatus


def test_a_fault_that_is_not_listed_is_refused() -> None:
    with pytest.raises(ValueError, match="no fault 'rain' in the area 'disk'"):
        fault("disk", "rain", sees="clouds", kept="all")


def test_a_row_without_a_passed_test_fails_the_run() -> None:
    matrix = Matrix("check")
    assert finished(matrix) == pytest.ExitCode.TESTS_FAILED
    assert len(matrix.problems) == sum(map(len, ROWS.values()))


def test_a_page_that_is_not_what_the_tests_give_fails_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(faults, "ROWS", {"disk": ["full"]})
    monkeypatch.setattr(faults, "PAGE", tmp_path / "faults.md")
    faults.PAGE.write_text("# Promises\n\n")
    row = ("disk", "full", "one error", "the old index", "1")
    for purpose, cases, skipped, code in (("write", 2, False, 0), ("check", 2, False, 0), ("check", 1, False, 1), ("check", 1, True, 0)):
        matrix = Matrix(purpose)
        matrix.passed[row], matrix.skipped = ["tests/test_a.py"] * cases, skipped
        assert finished(matrix) == code
    assert "| full | one error | the old index | 1 | 2 |" in faults.PAGE.read_text()
    assert faults.PAGE.read_text().startswith("# Promises\n\n## What happens")
