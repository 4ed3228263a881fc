"""Measure what speed and memory are claimed, and print one table, headed by the machine: `RAMIFY_DATA=… python
plugins/lab/benchmarks/bench.py`.

Runs the benchmarks beside this file with small parameters, one after another: under ten minutes on two idle cores. Where RAMIFY_DATA is
unset, what needs real data says so. Figures count on an idle machine: the load is printed, and `--smallest` only shows that all of it runs.
"""

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ramify.tools.documents.worker_pool import available_cores
from ramify.tools.embeddings.local_encoders import cpu_has_bfloat16

FOLDER = Path(__file__).parent
IDLE = 0.5
"""The load, of the last minute, below which a machine is idle."""
DATA = "RAMIFY_DATA"
FLOAT32 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"}
"""With these, a processor with bfloat16 computes as one without."""


class Figure(NamedTuple):
    """A row: what is measured, where it stands in what the benchmark prints, its unit, and the target or what is to be said of it."""

    name: str
    pattern: str
    unit: str
    note: str = ""


class Run(NamedTuple):
    """A benchmark with its parameters, those of the smallest mode, and the figures taken from what it prints."""

    command: str
    smallest: str
    figures: tuple[Figure, ...]
    environment: Mapping[str, str] = {}
    data: bool = True


def _indexing(numbers: str, environment: Mapping[str, str]) -> Run:
    rate = Figure(f"`ramify index`, {numbers}", r"Index\.build .* ([\d.]+) passages/s", "passages a second", "paragraphs of 100 words")
    busy = Figure(f"`ramify index`, {numbers}: cores busy", r"Index\.build .*busy ([\d.]+)", "", "target .95, for long runs")
    return Run("indexing.py --limit 1000", "indexing.py --limit 8", (rate, busy), environment)


def _row(label: str) -> str:
    """Return the pattern of the first figure in a row of a Markdown table."""
    return rf"^\| {re.escape(label)} \|[ |]*([\d.]+)"


def _scale(passages: int, smallest: int) -> Run:
    name = f"a search in {passages:,} passages, by vectors and words"
    command = "scale.py --vectors fp32 --work {work} --passages "
    return Run(command + str(passages), command + str(smallest), (Figure(name, r"^  fused .*?p50 +([\d.]+)", "ms", "median"),))


COLD = (
    Figure("`ramify ask`, new process", _row("ramify ask"), "s"),
    Figure("`ramify search`, new process", _row("ramify search"), "s"),
    Figure("the imports alone", _row("import torch, langgraph.graph"), "s", "PyTorch and LangGraph, in the two above"),
    Figure("first output of `ramify ask`", _row("first output"), "s"),
    Figure("second question of a conversation", _row("second question of a conversation"), "s"),
)
ORCHESTRATION = (
    Figure("one question with `tor`: time over critical path", r"  tor .*?: ([\d.]+)  calls", "", "target 1.05; a model of 0.2 s a call"),
    Figure("64 questions with `tor`: share of the cap busy", r"  tor: ([\d.]+)  most", "", "target .90"),
)
RUNS = (
    Run("cold_start.py --runs 3", "cold_start.py --runs 1", COLD, data=False),
    Run(
        "memory.py",
        "memory.py --once",
        (Figure("`ramify ask`, most memory", _row("`ramify ask`, at most"), "MiB", "target 500"),),
        data=False,
    ),
    Run("reader_speed.py --questions 20", "reader_speed.py --questions 1", (Figure("reading", r"read (\d+)$", "passages a second"),)),
    _indexing("in the machine's numbers", {}),
    _indexing("in float32", FLOAT32),
    _scale(10_000, 200),
    _scale(100_000, 300),
    Run(
        "updates.py --passages 10000 --work {work}/updates",
        "updates.py --passages 100 --work {work}/updates",
        (Figure("update of one file of 1,000", r"^  one file +([\d.]+)", "s"),),
    ),
    Run("orchestration.py", "orchestration.py --tries 1 --crowd 2", ORCHESTRATION, data=False),
)


def describe_machine() -> str:
    """Return a description of the machine and its software."""
    info = Path("/proc/cpuinfo")
    processors = re.search(r"^model name\s*: (.+)$", info.read_text(encoding="utf-8"), re.MULTILINE) if info.is_file() else None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    numbers = "bfloat16" if cpu_has_bfloat16() else "float32"
    processor = processors[1] if processors else platform.processor() or platform.machine()
    return (
        f"{processor}, {available_cores()} cores, {memory:.0f} GiB of memory, "
        f"Python {platform.python_version()}, torch {version('torch')}; "
        f"the embedded model, in {numbers}"
    )


def run_measurement(run: Run, smallest: bool, work: Path) -> Iterator[str]:
    """Run a benchmark; yield a row for each of its figures. One that ends with an error has none, and its last line instead."""
    if run.data and DATA not in os.environ:
        yield from (f"| {figure.name} | – | set {DATA} to the folder of the data sets |" for figure in run.figures)
        return
    file, *options = shlex.split((run.smallest if smallest else run.command).format(work=work))
    done = subprocess.run([sys.executable, FOLDER / file, *options], capture_output=True, text=True, env={**os.environ, **run.environment})
    for figure in run.figures:
        match = re.search(figure.pattern, done.stdout, re.MULTILINE)
        last = (done.stderr.strip() or "nothing").splitlines()[-1]
        yield f"| {figure.name} | {f'{match[1]} {figure.unit}'.strip()} | {figure.note} |" if match else f"| {figure.name} | – | {last} |"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smallest", action="store_true", help="as little of each as possible: what is printed is no measurement")
    options = parser.parse_args()
    began, load = time.perf_counter(), os.getloadavg()[0]
    doubt = "the smallest mode: no measurement" if options.smallest else "not idle: measure again" if load >= IDLE else "idle"
    print(f"{describe_machine()}; load {load:.2f}, {doubt}\n\n| quantity | figure | target or note |\n|---|--:|---|", flush=True)
    with tempfile.TemporaryDirectory() as work:
        for run in RUNS:
            for row in run_measurement(run, options.smallest, Path(work)):
                print(row, flush=True)
    print(f"\nmeasured in {(time.perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
