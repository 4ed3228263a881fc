"""Where the memory of one question goes: what each step adds to a new process, in MiB: `python plugins/lab/benchmarks/memory.py`.

The steps run one after another: what a later one needs and an earlier one has is counted with the earlier. Files: pages of libraries and
of other files, which processes share. The last row is the most that `ramify ask` takes, which does some of this side by side. The demo
corpus and the embedded model; its index is made before.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

QUESTION = "In which city was the inventor of the ballpoint pen born?"
ASK = [str(Path(sys.executable).with_name("ramify")), "ask", QUESTION, "--model", "extractive"]
PEAK = "`ramify ask`, at most"


def encoder() -> None:
    from ramify.tools.embeddings import load_encoder

    load_encoder("minilm").load()


def reader() -> None:
    from ramify.embedded.reader.reading import SMALL

    SMALL.load()


def writer() -> None:
    from ramify.embedded.splitting.writing import load_splitter

    load_splitter()


def index() -> None:
    from ramify.tools.demo import demo_index
    from ramify.tools.index import Index

    opened.append(Index.open(demo_index()))


def question() -> None:
    from ramify.graphs import ask

    ask(QUESTION, model="extractive")


opened: list[object] = []
STEPS: dict[str, Callable[[], object]] = {
    "Python": lambda: None,
    "import torch": lambda: import_module("torch"),
    "import langgraph.graph": lambda: import_module("langgraph.graph"),
    "import ramify.graphs": lambda: import_module("ramify.graphs"),
    "the encoder": encoder,
    "the reader": reader,
    "the writer of sub-questions": writer,
    "the index": index,
    "one question": question,
}


def taken() -> tuple[float, float]:
    """Return the memory of this process, and how much of it is pages of files."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    status = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmRSS", "RssFile"))}
    return status["VmRSS:"], status["RssFile:"]


def steps() -> list[tuple[str, float, float]]:
    """Take the steps; return the memory after each."""
    rows = []
    for name, step in STEPS.items():
        step()
        rows.append((name, *taken()))
    return rows


def measured() -> list[tuple[str, float, float, float]]:
    """Return each step with what it adds, the memory after it and the pages of files in that; of `ramify ask` only the most."""
    done = subprocess.run([sys.executable, __file__, "--steps"], check=True, stdout=subprocess.PIPE, text=True)
    rows, before = [], 0.0
    for name, now, files in json.loads(done.stdout.splitlines()[-1]):
        rows.append((name, now - before, now, files))
        before = now
    return rows


def peak() -> float:
    """Return the most memory that a question takes from the command line."""
    running = subprocess.Popen(ASK, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(running.pid, 0)
    if status:
        sys.exit(f"{' '.join(ASK)!r} failed: run it, and see what it says")
    return used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--once", action="store_true", help="do not ask before, though the first question also makes the index")
    parser.add_argument("--steps", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.steps:
        print(json.dumps(steps()))
        return
    print("| after | adds, MiB | all, MiB | of it files |\n|---|--:|--:|--:|")
    if not given.once:
        subprocess.run(ASK, check=True, stdout=subprocess.DEVNULL)  # makes the index
    for name, added, now, files in measured():
        print(f"| {name} | {added:.0f} | {now:.0f} | {files:.0f} |")
    print(f"| {PEAK} | | {peak():.0f} | |")


if __name__ == "__main__":
    main()
