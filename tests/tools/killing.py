"""Kill a build by SIGKILL wherever it is: at points of the work, one as far from the next as all, and before its files take their place."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

POINTS = 5
"""Points of the work at which it is killed, beside those before a file takes its place."""
Act = Callable[[Path], object]
_CHILD = "import sys; from tests.tools.killing import kill_everywhere; kill_everywhere(*sys.argv[1:])"


def killed_everywhere(folder: Path, act: str, *files: str) -> list[Path]:
    """Copy an index and build in each copy until killed; `act` is the builder as "module:function"; give the copies."""
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = [sys.executable, "-c", _CHILD, str(folder), act, *files]
    subprocess.run(run, cwd=Path(__file__).parents[2], env=one_thread, check=True, timeout=300)
    copies = sorted(folder.parent.glob("killed-*"))
    assert len(copies) == POINTS + len(files)
    return copies


def kill_everywhere(index: str, named: str, *files: str) -> None:
    """Do it, in a process of its own, which has no threads."""
    module, _, function = named.partition(":")
    act: Act = getattr(importlib.import_module(module), function)
    folder = Path(index)
    shutil.copytree(folder, folder.parent / "counted")
    counted = [0]
    act(folder.parent / "counted")  # what is loaded once is loaded
    shutil.rmtree(folder.parent / "counted")
    shutil.copytree(folder, folder.parent / "counted")
    _counting(lambda calls: counted.__setitem__(0, calls))
    act(folder.parent / "counted")
    sys.setprofile(None)
    for number in range(POINTS):
        at = counted[0] * (2 * number + 1) // (2 * POINTS)
        copy = Path(shutil.copytree(folder, folder.parent / f"killed-{number}"))
        assert _killed(copy, act, lambda calls, at=at: _die() if calls == at else None) == -signal.SIGKILL  # type: ignore[misc]
    for name in files:
        copy = Path(shutil.copytree(folder, folder.parent / f"killed-before-{name}"))
        replace = Path.replace
        _die_before(name)
        assert _killed(copy, act, lambda calls: None) == -signal.SIGKILL
        Path.replace = replace  # type: ignore[method-assign]


def _killed(folder: Path, act: Act, reached: Callable[[int], None]) -> int:
    """Build in a child of this process; give how that ended."""
    child = os.fork()
    if not child:
        _counting(reached)
        act(folder)
        sys.setprofile(None)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _counting(reached: Callable[[int], None]) -> None:
    """From here on, tell at each call of a function of the toolkit how many there were."""
    calls = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        if event == "call" and "/ramify/" in frame.f_code.co_filename:
            calls += 1
            reached(calls)

    sys.setprofile(profile)


def _die(*_: Any) -> Any:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def _die_before(name: str) -> None:
    """End this process before a file takes its place."""
    replace = Path.replace
    Path.replace = lambda self, target: _die() if Path(target).name == name else replace(self, target)  # type: ignore[method-assign]
