"""Kill work by SIGKILL at each point that it reaches, and check that what remains is usable and the repeated work complete.

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

from tests.torture.forks import kill_self, report_points, run_in_child
from tests.torture.processes import ROOT
from tests.torture.report import Failures
from tests.torture.scenarios import SCENARIOS, Scenario

SERVE = "serve stream"


def count_points(scenario: Scenario, folder: Path) -> dict[str, int]:
    """Run the work and return how often each point is reached."""
    counts: Counter[str] = Counter()
    report_points(lambda point: counts.update([point]), calls=True)
    scenario.act(folder)
    sys.setprofile(None)
    return dict(counts)


def run_until_point(scenario: Scenario, folder: Path, point: str, number: int) -> None:
    """Run the work and kill this process when the point is reached for the `number`-th time."""
    remaining = [number]

    def reached(name: str) -> None:
        remaining[0] -= name == point
        if remaining[0] == 0:
            kill_self()

    report_points(reached, calls=point == "in a call")
    scenario.act(folder)


def run_kills(name: str, seed: int, times: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Kill a scenario's work `times` times at each point, in an order given by the seed, and yield the result of each."""
    scenario, draw = SCENARIOS[name], Random(f"{seed} {name}")
    base, undisturbed, copy = folder / "base", folder / "calm", folder / "copy"
    base.mkdir(parents=True)
    prepared = run_in_child(lambda: scenario.prepare(base) and None)
    shutil.copytree(base, undisturbed)
    points = run_in_child(lambda: count_points(scenario, undisturbed))
    old, new = (run_in_child(lambda place=place: scenario.outcome(place)).value for place in (base, undisturbed))  # type: ignore[misc]
    if prepared.wrong or points.wrong or new is None:
        yield {"point": "undisturbed", "wrong": prepared.wrong or points.wrong or "no outcome"}
        return
    done: Counter[str] = Counter()
    for _ in range(2 * times):  # repeated for points that a run did not reach
        for point, count in ((point, count) for point, count in points.value.items() if done[point] < times):
            number = draw.randint(1, count)
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(base, copy)
            ended = run_in_child(lambda point=point, number=number: run_until_point(scenario, copy, point, number))  # type: ignore[misc]
            checked = run_in_child(lambda: scenario.find_problem(copy, old, new))
            wrong = checked.wrong or checked.value or ended.wrong
            done[point] += ended.killed
            yield {"point": point, "number": number, "killed": ended.killed, "wrong": wrong}


def run(seed: int, times: int, out: Path, failures: Failures, only: str | None = None) -> list[str]:
    """Kill all scenarios' work, each in its own process, and a server; return the lines of the report."""
    lines = []
    for name in [only] if only else [*SCENARIOS, SERVE]:
        folder = out / "kill" / name.replace(" ", "-")
        module_arguments = ["kill_serve", str(times)] if name == SERVE else ["kill", name, str(seed), str(times)]
        command = [sys.executable, "-m", f"tests.torture.{module_arguments[0]}", *module_arguments[1:], str(folder)]
        died: Counter[str] = Counter()
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                result = json.loads(line)
                died[result["point"]] += result.get("killed", False)
                if result["wrong"]:
                    failures.add(
                        "kill", f"{name}, {result['point']}: {result['wrong']}", seed=seed, scenario=name, number=result.get("number")
                    )
        if process.returncode:
            failures.add("kill", f"{name} ended with {process.returncode}", seed=seed, scenario=name)
        if rare := [point for point, count in died.items() if count < times]:
            failures.add("kill", f"{name}: fewer than {times} kills {', '.join(rare)}", seed=seed, scenario=name)
        lines.append(f"{name}: {sum(died.values())} kills; " + ", ".join(f"{count} {point}" for point, count in died.items()))
        print(f"  {lines[-1]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    return lines


if __name__ == "__main__":
    for one in run_kills(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])):
        print(json.dumps(one), flush=True)
