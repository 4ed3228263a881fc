"""Losses of power: work that ends at each sync, rename and removal, and a disk that has only what was synced until then.

    python -m tests.torture.power SCENARIO SEED EVENTS FOLDER

`unsynced.c`, preloaded, keeps each file as it was at its last sync, and the names of each folder as they were at its last sync. After a
process has died at an event, folders are put together from that in three ways: the names that were synced, with the contents that were
synced; the names that there were, with the contents that were synced (a rename may reach the disk before what it renames); and the names
that there were, with each block of 4 KB either as it was synced or as it was. A file that was never synced is empty. What is not covered:
a disk that does not keep what it says it has, and blocks of the state between two syncs that were overwritten again before the end.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.torture.forks import run_in_child
from tests.torture.processes import ROOT
from tests.torture.report import Failures
from tests.torture.scenarios import SCENARIOS, Scenario

BLOCK = 4096
LOSS_MODES = ("names and contents as synced", "contents as synced", "some blocks as synced")
DURABLE_SCENARIOS = ("index", "update", "large index", "graph", "hierarchy")
"""Scenarios whose result must be durable when they end."""
POWER_SCENARIOS = (*DURABLE_SCENARIOS, "first chat turn", "chat turn", "eval row")


def compile_library(folder: Path) -> Path | None:
    """Compile the preloaded library and return its path; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    library = folder / "unsynced.so"
    if compiler is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("unsynced.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def record_durable_state(place: Path, durable: Path) -> None:
    """Record the current state of the folder as durable."""
    shutil.rmtree(durable, ignore_errors=True)
    durable.mkdir()
    for path in (place, *place.rglob("*")):
        if path.is_file():
            shutil.copyfile(path, durable / f"file-{path.stat().st_ino}")
        else:
            names = "".join(f"{inner.stat().st_ino} {inner.name}\n" for inner in path.iterdir())
            (durable / f"names-{path.stat().st_ino}").write_text(names, encoding="utf-8")


def act_until(scenario: Scenario, place: Path, durable: Path, event: int) -> None:
    """Run the work until the process is killed before an event; with 0 to its end."""
    os.environ.update(TORTURE_ROOT=str(place), TORTURE_DURABLE=str(durable), TORTURE_EVENT=str(event))
    scenario.act(place)


def restore_after_loss(place: Path, durable: Path, target: Path, mode: str, draw: Random) -> None:
    """Write a folder that a disk may have after a loss of power."""
    target.mkdir(parents=True)
    paths = {path.stat().st_ino: path for path in place.iterdir()}
    inodes = {path.name: inode for inode, path in paths.items()}
    names = durable / f"names-{place.stat().st_ino}"
    if mode == LOSS_MODES[0] and names.exists():
        inodes = {name: int(inode) for inode, name in (line.split(" ", 1) for line in names.read_text().splitlines())}
    for name, inode in sorted(inodes.items()):
        now, synced_file = paths.get(inode), durable / f"file-{inode}"
        if now is not None and now.is_dir():
            restore_after_loss(now, durable, target / name, mode, draw)
            continue
        content = synced_file.read_bytes() if synced_file.exists() else b""
        (target / name).write_bytes(mix_blocks(content, now.read_bytes(), draw) if mode == LOSS_MODES[2] and now is not None else content)


def mix_blocks(synced: bytes, now: bytes, draw: Random) -> bytes:
    """Return content whose blocks are randomly from either version."""
    size = max(len(synced), len(now))
    blocks = ((synced, now)[draw.randrange(2)][at : at + BLOCK].ljust(min(BLOCK, size - at), b"\0") for at in range(0, size, BLOCK))
    return b"".join(blocks)


def check_durable(scenario: Scenario, folder: Path, new: Any) -> str:
    """Return what is wrong where work had ended before the loss."""
    return "" if scenario.outcome(folder) == new else "work that had ended is lost"


def run_losses(name: str, seed: int, most: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Lose power at events of one scenario's work, at most so many, and yield what came of each."""
    scenario, draw = SCENARIOS[name], Random(f"{seed} {name}")
    base, undisturbed, copy, durable, restored = (folder / part for part in ("base", "calm", "copy", "durable", "lost"))
    base.mkdir(parents=True)
    prepared = run_in_child(lambda: scenario.prepare(base) and None)
    shutil.copytree(base, undisturbed)
    record_durable_state(undisturbed, durable)
    done = run_in_child(lambda: act_until(scenario, undisturbed, durable, 0))
    old, new = (run_in_child(lambda place=place: scenario.outcome(place)).value for place in (base, undisturbed))  # type: ignore[misc]
    if prepared.wrong or done.wrong:
        yield {"event": 0, "wrong": prepared.wrong or done.wrong}
        return
    count = int((durable / "events-0").read_text())
    for event in [*sorted(draw.sample(range(1, count + 1), min(most, count))), *([count + 1] if name in DURABLE_SCENARIOS else ())]:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(base, copy)
        record_durable_state(copy, durable)
        ended = run_in_child(lambda event=event: act_until(scenario, copy, durable, event))  # type: ignore[misc]
        for mode in LOSS_MODES:
            shutil.rmtree(restored, ignore_errors=True)
            restore_after_loss(copy, durable, restored, mode, Random(f"{seed} {name} {event}"))
            check = (
                partial(scenario.find_problem, restored, old, new) if event <= count else partial(check_durable, scenario, restored, new)
            )
            checked = run_in_child(check)
            yield {"event": event, "of": count, "way": mode, "wrong": ended.wrong or checked.wrong or checked.value}


def run(seed: int, most: int, out: Path, failures: Failures, only: str | None = None) -> list[str]:
    """Lose power at the events of all scenarios' work, at most so many of each; return what to tell."""
    library = compile_library(out / "power")
    if library is None:
        return ["There is no C compiler here: no loss of power was tried."]
    lines = []
    for name in [only] if only else POWER_SCENARIOS:
        folder = out / "power" / name.replace(" ", "-")
        command = [sys.executable, "-m", "tests.torture.power", name, str(seed), str(most), str(folder)]
        results = []
        preloaded = {**os.environ, "LD_PRELOAD": str(library)}
        with subprocess.Popen(command, cwd=ROOT, env=preloaded, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                results.append(json.loads(line))
                if results[-1]["wrong"]:
                    what = f"{name}, event {results[-1]['event']}, {results[-1].get('way')}: {results[-1]['wrong']}"
                    failures.add("power", what, seed=seed, scenario=name)
        if process.returncode or not results:
            failures.add("power", f"{name} ended with {process.returncode}", seed=seed, scenario=name)
            continue
        lines.append(
            f"{name}: {len(results)} losses, at {len(results) // len(LOSS_MODES)} of {results[-1].get('of')} "
            "syncs, renames and removals, or after the end"
        )
        print(f"  {lines[-1]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return lines


if __name__ == "__main__":
    for one in run_losses(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])):
        print(json.dumps(one), flush=True)
