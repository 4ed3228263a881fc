"""How tests are dealt out: what shares a server stays together, what runs the small model too, all else goes where there is room."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durations import LIMIT, Durations
from tests.sharing import NEEDS, REAL_FILES, SHARED_FILES, SLOW_TESTS, group_of_test


def test_the_files_and_tests_that_are_named_are_there() -> None:
    root = Path(__file__).parent.parent
    for file, *within in (name.split("::") for name in (*SHARED_FILES, *REAL_FILES, *SLOW_TESTS, *NEEDS)):
        if file.startswith("plugins/") and not (root / "plugins").exists():
            continue
        assert f"def {within[-1].partition('[')[0]}(" in (root / file).read_text(encoding="utf-8") if within else (root / file).exists(), (
            file,
            within,
        )


def report(nodeid: str, setup: float, call: float) -> Iterator[pytest.TestReport]:
    for when, duration in (("setup", setup), ("call", call), ("teardown", 0.0)):
        yield pytest.TestReport(nodeid, ("", 0, ""), {}, "passed", None, when, duration=duration)  # type: ignore[arg-type]


def test_slow_are_those_whose_cases_take_long_with_their_part_of_what_is_shared() -> None:
    durations = Durations()
    for nodeid, setup, call in [
        ("tests/a.py::test_long", 0.0, 2 * LIMIT),
        ("tests/a.py::test_cases[1]", 0.0, 1.5 * LIMIT),
        ("tests/a.py::test_cases[2]", 0.0, 0.1 * LIMIT),
        ("tests/shared.py::test_first", 3 * LIMIT, 0.0),
        ("tests/shared.py::TestMore::test_second", 0.0, 0.0),
    ]:
        for phase in report(nodeid, setup, call):
            durations.pytest_runtest_logreport(phase)
    assert list(durations.slow()) == ["tests/a.py::test_long", "tests/shared.py"]


def test_a_test_is_a_group_of_its_own_unless_it_shares_something() -> None:
    assert group_of_test("tests/studio/server/guard/test_pages.py::TestPages::test_one[a]") == group_of_test(
        "tests/studio/server/guard/test_bounds.py::test_other"
    )
    assert group_of_test("tests/tools/test_smollm2.py::test_one") == group_of_test("tests/graphs/test_tor_smollm2.py::test_other")
    assert group_of_test("tests/tools/test_scrub.py::test_one[a]") != group_of_test("tests/tools/test_scrub.py::test_one[b]")
