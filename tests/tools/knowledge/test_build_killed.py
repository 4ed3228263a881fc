"""A build of a graph killed by SIGKILL wherever it is: run again, it gives the very file of a build that nobody disturbed."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ramify.tools.index import Index
from ramify.tools.index.manifest import MANIFEST
from ramify.tools.knowledge.file import GRAPH
from tests.tools.fakes import WordEncoder
from tests.tools.knowledge.valley import SMALL, VALLEY, dump, opened, reports_of, structured, write

POINTS = 8
"""Points of the work at which it is killed, one as far from the next as all; and before each of the two files takes its place."""
MARROW = {**VALLEY, "Marrow Fair": "The Marrow Fair is held in Lisk each spring. Orla Finch opened the Marrow Fair with Ben Adair."}


def counting(reached: Callable[[int], None]) -> None:
    """From here on, tell at each call of a function of the toolkit how many there were."""
    calls = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event == "call" and "/ramify/" in frame.f_code.co_filename:
            calls += 1
            reached(calls)

    sys.setprofile(profile)


def killed_at(folder: Path, reached: Callable[[int], None]) -> int:
    """Make the graph of a copy of an index in a child of this process; give how that ended."""
    child = os.fork()
    if not child:
        counting(reached)
        structured(folder, **SMALL)
        sys.setprofile(None)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def die(*_: Any) -> Any:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_before(name: str) -> None:
    """End this process before a file takes its place."""
    replace = Path.replace
    Path.replace = lambda self, target: die() if Path(target).name == name else replace(self, target)  # type: ignore[method-assign]


def kill_everywhere(index: str) -> None:
    """Copy an index ten times, and make the graph of each until killed; run in a process of its own, which has no threads."""
    folder = Path(index)
    shutil.copytree(folder, folder.parent / "counted")
    counted = [0]
    structured(folder.parent / "counted", **SMALL)  # what is loaded once is loaded
    shutil.rmtree(folder.parent / "counted")
    shutil.copytree(folder, folder.parent / "counted")
    counting(lambda calls: counted.__setitem__(0, calls))
    structured(folder.parent / "counted", **SMALL)
    sys.setprofile(None)
    for number in range(POINTS):
        at = counted[0] * (2 * number + 1) // (2 * POINTS)
        copy = Path(shutil.copytree(folder, folder.parent / f"killed-{number}"))
        assert killed_at(copy, lambda calls, at=at: die() if calls == at else None) == -signal.SIGKILL  # type: ignore[misc]
    for name in (GRAPH, MANIFEST):
        copy = Path(shutil.copytree(folder, folder.parent / f"killed-before-{name}"))
        replace = Path.replace
        die_before(name)
        assert killed_at(copy, lambda calls: None) == -signal.SIGKILL
        Path.replace = replace  # type: ignore[method-assign]


CHILD = "import sys; from tests.tools.knowledge.test_build_killed import kill_everywhere; kill_everywhere(sys.argv[1])"


def killed_everywhere(folder: Path) -> list[Path]:
    subprocess.run([sys.executable, "-c", CHILD, str(folder)], cwd=Path(__file__).parents[3], check=True, timeout=300)
    copies = sorted(folder.parent.glob("killed-*"))
    assert len(copies) == POINTS + 2
    return copies


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    Index.build([write(tmp_path / "documents")], folder, WordEncoder())
    return folder


def test_a_first_build(index: Path) -> None:
    copies = killed_everywhere(index)
    structured(index, **SMALL)
    whole = 0
    for copy in copies:
        whole += (copy / GRAPH).exists()
        structured(copy, **SMALL)
        assert dump(copy) == dump(index), copy.name
    assert whole == 1, "before its manifest is in its place a graph is whole, and not vouched for"


def test_an_update(index: Path) -> None:
    structured(index, **SMALL)
    before = dump(index)
    Index.build([write(index.parent / "documents", MARROW)], index, WordEncoder())
    copies = killed_everywhere(index)
    for copy in copies:
        if dump(copy) == before:
            opened(copy).search(["Marrow Fair"], 3)
    Index.build([index.parent / "documents"], copies[-1], WordEncoder())  # as `ramify index` does, which finds a graph without a manifest
    again = [structured(copy, **SMALL) for copy in copies]
    found = structured(index, **SMALL)
    assert 0 < found.rewritten < found.communities
    assert all(one.new_edges == found.new_edges for one in again)
    assert {dump(copy) for copy in copies} == {dump(index)}
    assert "marrow fair" in reports_of(index).graph().names
