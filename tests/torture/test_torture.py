"""Each part of the stress test runs at a very small size without failures; a seed gives the same plan."""

import shutil
from pathlib import Path

import pytest

from tests.torture.__main__ import main
from tests.torture.plan import draw_case
from tests.torture.processes import MonitoredProcess, Sample

SMALL = {
    "load": ("--minutes", "10", "--at-once", "8", "--seed", "379", "--questions", "14"),  # all doors but `ramify ask` and `ramify mcp`
    "kill": ("--times", "1", "--scenario", "chat turn"),
    "disk": ("--step", "100", "--scenario", "update"),
    "power": ("--times", "3", "--scenario", "update"),
}


@pytest.mark.parametrize("part", SMALL)
def test_a_part_has_no_failures(part: str, tmp_path: Path) -> None:
    if part == "power" and not (shutil.which("cc") or shutil.which("gcc")):
        pytest.skip("no C compiler on this machine")
    out = tmp_path / "torture"
    assert main(["--part", part, "--seed", "1", "--out", str(out), *SMALL[part]]) == 0, (out / "failures.jsonl").read_text()
    assert "0 failures" in (out / "report.md").read_text()


def test_a_seed_gives_the_same_plan() -> None:
    assert [draw_case(1, number) for number in range(50)] == [draw_case(1, number) for number in range(50)]
    assert [draw_case(1, number) for number in range(50)] != [draw_case(2, number) for number in range(50)]


def test_a_growing_process_is_reported() -> None:
    grows = MonitoredProcess("one", 1, [Sample(60 * minute, 100 + 10 * minute, 20, 5 + 2 * minute) for minute in range(20)])
    flat = MonitoredProcess("two", 2, [Sample(60 * minute, 300 if minute > 3 else 100, 20, 5) for minute in range(20)])
    assert [what.partition(" grew")[0] for what in grows.growth_messages()] == ["one: memory", "one: threads"]
    assert flat.growth_messages() == []
