"""Kill a build by SIGKILL wherever it is: at points of the work, one as far from the next as all, and at each operation on a file."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

POINTS = 5
"""Points of the work at which it is killed, beside the operations on files."""
Act = Callable[[Path], object]
_CHILD = "import sys; from tests.tools.killing import kill_everywhere; kill_everywhere(*sys.argv[1:])"


def killed_everywhere(folder: Path, act: str) -> list[Path]:
    """Copy an index and build in each copy until killed; `act` is the builder as "module:function"; give the copies."""
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = [sys.executable, "-c", _CHILD, str(folder), act]
    subprocess.run(run, cwd=Path(__file__).parents[2], env=one_thread, check=True, timeout=600)
    copies = sorted(folder.parent.glob("killed-*"))
    assert len(copies) > POINTS
    return copies


def kill_everywhere(index: str, named: str) -> None:
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
        assert _killed(copy, act, partial(_counting, lambda calls, at=at: _die() if calls == at else None)) == -signal.SIGKILL  # type: ignore[misc]
    for number in count(1):
        copy = Path(shutil.copytree(folder, folder.parent / f"killed-at-{number:03}"))
        if _killed(copy, act, partial(_die_at_operation, copy, number)) == 0:
            shutil.rmtree(copy)
            break


def _killed(folder: Path, act: Act, prepare: Callable[[], None]) -> int:
    """Build in a child of this process; give how that ended."""
    child = os.fork()
    if not child:
        prepare()
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


def _die_at_operation(folder: Path, number: int) -> None:
    """End this process before the nth file below the folder is created, opened for writing, renamed or deleted."""
    operations = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal operations
        changes = event in ("os.rename", "os.remove") or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if changes and str(arguments[0]).startswith(str(folder)):
            operations += 1
            if operations == number:
                _die()

    sys.addaudithook(hook)
