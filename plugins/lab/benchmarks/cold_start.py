"""Time the first answer of a new process, as ratios to importing torch and LangGraph alone: `python plugins/lab/benchmarks/cold_start.py`.

Each command runs several times in turn with the import that it is compared with; the table gives the medians. The demo's index is built
before, so that no run pays for it; files are in the page cache. With `--runs 1` nothing runs before, and the figures are no measurement.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median

RAMIFY = str(Path(sys.executable).with_name("ramify"))
IMPORT = [sys.executable, "-c", "import torch, langgraph.graph"]
QUESTION = "In which city was the inventor of the ballpoint pen born?"
SECOND = """
import time
import ramify.graphs as graphs
conversation = graphs.Conversation()
conversation.ask("Who invented the ballpoint pen?", model="extractive")
began = time.perf_counter()
conversation.ask("In which city was the inventor of the telephone born?", model="extractive")
print(time.perf_counter() - began)
"""
COMMANDS = {
    "ramify ask": [RAMIFY, "ask", QUESTION, "--model", "extractive"],
    "ramify search": [RAMIFY, "search", "ballpoint pen"],
}
OFFLINE = {**os.environ, "OLLAMA_HOST": "127.0.0.1:9"}


def seconds(command: Sequence[str]) -> float:
    """Run a command to its end and return how long it took."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=OFFLINE)
    return time.perf_counter() - began


def until_output(command: Sequence[str]) -> float:
    """Return how long a command takes to show anything on a terminal."""
    ours, theirs = os.openpty()
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env={**OFFLINE, "TERM": "xterm"}) as running:
        os.close(theirs)
        os.read(ours, 1)
        shown = time.perf_counter() - began
        with suppress(OSError):  # the terminal is closed with the process
            while os.read(ours, 4096):
                pass
        running.wait()
    os.close(ours)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    for command in COMMANDS.values() if arguments.runs > 1 else ():
        seconds(command)
    taken: dict[str, list[float]] = {"import torch, langgraph.graph": [], **{name: [] for name in COMMANDS}}
    for _ in range(arguments.runs):
        taken["import torch, langgraph.graph"].append(seconds(IMPORT))
        for name, command in COMMANDS.items():
            taken[name].append(seconds(command))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    shown = median(until_output(COMMANDS["ramify ask"]) for _ in range(arguments.runs))
    second = [sys.executable, "-c", SECOND]
    follow_up = median(float(subprocess.run(second, check=True, capture_output=True, env=OFFLINE).stdout) for _ in range(arguments.runs))
    base = median(taken["import torch, langgraph.graph"])
    rows = {name: {"seconds": round(median(times), 2), "ratio": round(median(times) / base, 2)} for name, times in taken.items()}
    results = {"machine": f"{platform.machine()}, {os.cpu_count()} cores", "rows": rows, "first output": round(shown, 2)}
    results |= {"second question of a conversation": round(follow_up, 2), "largest process, MiB": round(memory)}
    print(json.dumps(results, indent=2) if arguments.json else "\n".join(table(results, rows)))


def table(results: dict[str, object], rows: dict[str, dict[str, float]]) -> list[str]:
    """Write the results as Markdown."""
    lines = [f"{results['machine']}, Python {platform.python_version()}, medians", "", "| | seconds | ratio |", "|---|---|---|"]
    lines += [f"| {name} | {row['seconds']:.2f} | {row['ratio']:.2f} |" for name, row in rows.items()]
    lines += [f"| {name} | {results[name]} | |" for name in ("first output", "second question of a conversation")]
    return [*lines, f"| memory of the largest process, MiB | {results['largest process, MiB']} | |"]


if __name__ == "__main__":
    main()
