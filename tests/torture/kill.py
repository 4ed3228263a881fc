"""Kills: work ended by SIGKILL at each point that it comes to; what is left can be used, and the work done again loses nothing.

    python -m tests.torture.kill SCENARIO SEED TIMES FOLDER

It writes a JSON line for each kill. Points are found by doing the work once: at transactions, syncs, renames, encoded texts, and
anywhere in the calls of the toolkit.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.torture.forks import die, in_child, telling
from tests.torture.processes import ROOT
from tests.torture.report import Failures
from tests.torture.scenarios import SCENARIOS, Scenario

SERVE = "serve stream"


def counted(scenario: Scenario, folder: Path) -> dict[str, int]:
    """Do the work and count how often each point is reached."""
    counts: Counter[str] = Counter()
    telling(lambda point: counts.update([point]), calls=True)
    scenario.act(folder)
    sys.setprofile(None)
    return dict(counts)


def killed_at(scenario: Scenario, folder: Path, point: str, number: int) -> None:
    """Do the work and die when the point is reached for the so-many-th time."""
    left = [number]

    def reached(name: str) -> None:
        left[0] -= name == point
        if left[0] == 0:
            die()

    telling(reached, calls=point == "in a call")
    scenario.act(folder)


def kills(name: str, seed: int, times: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Kill a scenario's work so often at each point, in an order that the seed gives, and yield what came of each."""
    scenario, draw = SCENARIOS[name], Random(f"{seed} {name}")
    base, calm, copy = folder / "base", folder / "calm", folder / "copy"
    base.mkdir(parents=True)
    prepared = in_child(lambda: scenario.prepare(base) and None)
    shutil.copytree(base, calm)
    points = in_child(lambda: counted(scenario, calm))
    old, new = (in_child(lambda place=place: scenario.outcome(place)).value for place in (base, calm))  # type: ignore[misc]
    if prepared.wrong or points.wrong or new is None:
        yield {"point": "undisturbed", "wrong": prepared.wrong or points.wrong or "no outcome"}
        return
    done: Counter[str] = Counter()
    for _ in range(2 * times):  # a draw that a run did not come to is drawn again
        for point, count in ((point, count) for point, count in points.value.items() if done[point] < times):
            number = draw.randint(1, count)
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(base, copy)
            ended = in_child(lambda point=point, number=number: killed_at(scenario, copy, point, number))  # type: ignore[misc]
            checked = in_child(lambda: scenario.wrong(copy, old, new))
            wrong = checked.wrong or checked.value or ended.wrong
            done[point] += ended.killed
            yield {"point": point, "number": number, "killed": ended.killed, "wrong": wrong}


def run(seed: int, times: int, out: Path, failures: Failures, only: str | None = None) -> list[str]:
    """Kill all scenarios' work, each in a process of its own, and a server; return what to tell."""
    lines = []
    for name in [only] if only else [*SCENARIOS, SERVE]:
        folder = out / "kill" / name.replace(" ", "-")
        given = ["kill_serve", str(times)] if name == SERVE else ["kill", name, str(seed), str(times)]
        command = [sys.executable, "-m", f"tests.torture.{given[0]}", *given[1:], str(folder)]
        died: Counter[str] = Counter()
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                told = json.loads(line)
                died[told["point"]] += told.get("killed", False)
                if told["wrong"]:
                    failures.add("kill", f"{name}, {told['point']}: {told['wrong']}", seed=seed, scenario=name, number=told.get("number"))
        if process.returncode:
            failures.add("kill", f"{name} ended with {process.returncode}", seed=seed, scenario=name)
        if rare := [point for point, count in died.items() if count < times]:
            failures.add("kill", f"{name}: fewer than {times} kills {', '.join(rare)}", seed=seed, scenario=name)
        lines.append(f"{name}: {sum(died.values())} kills; " + ", ".join(f"{count} {point}" for point, count in died.items()))
        print(f"  {lines[-1]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return lines


if __name__ == "__main__":
    for one in kills(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])):
        print(json.dumps(one), flush=True)
