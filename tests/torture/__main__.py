"""Run the stress test, or parts of it: python -m tests.torture --minutes 30 --seed 7 --at-once 128 --out build/torture --part load."""

import argparse
import shutil
import sys
from pathlib import Path
from random import SystemRandom

from tests.torture import disk, kill, load, power
from tests.torture.processes import MonitoredProcess
from tests.torture.report import Failures, write_page

PARTS = ("load", "kill", "disk", "power")
LOAD_SHARE = 0.4
"""The share of the minutes for the load if all parts run; the others end by themselves."""
MIN_KILLS = 50
"""Minimum number of kills at each point."""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=30, help="about how long all parts take on two idle cores; with one part, the load"
    )
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--at-once", type=int, default=128, help="questions of the load at the same time")
    parser.add_argument("--out", type=Path, default=Path("build/torture"))
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--only", type=int, help="one question of the load, by its number")
    parser.add_argument("--questions", type=int, help="so many questions of the load, and only the servers that they ask")
    parser.add_argument("--scenario", help="one scenario of the other parts, by its name")
    parser.add_argument(
        "--times", type=int, help=f"kills at each point, and losses of power of each scenario; {MIN_KILLS} or more in 30 minutes"
    )
    parser.add_argument("--step", type=int, default=disk.DEFAULT_STEP_KB, help="KB by which a disk grows")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the parts; return 1 if there are failures."""
    arguments_given = make_parser().parse_args(arguments)
    seed: int = SystemRandom().randrange(10**6) if arguments_given.seed is None else arguments_given.seed
    out: Path = arguments_given.out.absolute()
    if out.exists() and any(out.iterdir()) and not (out / "failures.jsonl").exists():
        sys.exit(f"{str(out)!r} has other files — name a new folder")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "failures.jsonl").touch()
    print(f"seed {seed}", flush=True)
    parts = arguments_given.part or PARTS
    minutes = arguments_given.minutes * (LOAD_SHARE if len(parts) == len(PARTS) else 1)
    times = arguments_given.times or max(MIN_KILLS, round(MIN_KILLS * arguments_given.minutes / 30))
    failures, lines = Failures(out / "failures.jsonl"), [f"Seed {seed}."]
    monitored: list[MonitoredProcess] = []
    for part in parts:
        print(part, flush=True)
        if part == "load":
            questions: int | None = arguments_given.questions
            chosen = [arguments_given.only] if arguments_given.only is not None else range(questions) if questions else None
            done = load.run(seed, minutes, arguments_given.at_once, out, chosen, failures)
            monitored, summary = done.monitored, done.summary()
        elif part == "kill":
            summary = kill.run(seed, times, out, failures, arguments_given.scenario)
        elif part == "disk":
            summary = disk.run(seed, arguments_given.step, out, failures, arguments_given.scenario)
        else:
            summary = power.run(seed, times, out, failures, arguments_given.scenario)
        lines += [f"## {part.capitalize()}", *summary]
        write_page(out, lines, failures, monitored)
    print("\n".join([*lines, f"{len(failures.found)} failures; {out / 'report.md'}"]), flush=True)
    return 1 if failures.found else 0


if __name__ == "__main__":
    sys.exit(main())
