"""Measure `ramify serve`: 100 questions at once with the embedded model, several rounds: `python plugins/lab/benchmarks/serving.py`.

Each client asks over a connection of its own and reads the events of its answer. Counted are the questions that end with a result, and
those that begin out of turn; printed is the memory of the server after each round, which is to stay flat. Exits 1 where a target is missed.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[3]))

import httpx

from ramify.lab.load import load_demo
from ramify.tools.demo import demo_index
from tests.studio.dev_server import RAMIFY, free_port

FLAT = 1.05
"""The most memory after the last round, in that after the second: the first ones fill what is kept."""
PATIENCE = 3600.0


class ClientResult(NamedTuple):
    """The outcome of a client's question."""

    ended: str
    seconds: float
    positions: list[int]


@contextmanager
def serving(at_once: int) -> Iterator[tuple[str, int]]:
    """Start the command with a cache of its own; yield its address and process, when it is ready."""
    with TemporaryDirectory() as folder:
        (Path(folder) / demo_index().name).symlink_to(demo_index())
        port = free_port()
        command = [RAMIFY, "serve", "--port", str(port), "--model", "extractive", "--at-once", str(at_once)]
        process = subprocess.Popen(command, env={**os.environ, "RAMIFY_CACHE": folder}, stderr=subprocess.DEVNULL)
        try:
            while not ready(f"http://127.0.0.1:{port}/ready"):
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()
            process.wait()


def ready(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def memory(process: int) -> float:
    """Return the MiB that a process has in memory."""
    [line] = [line for line in Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


async def ask(client: httpx.AsyncClient, question: str, thread: bool) -> ClientResult:
    """Ask, and read to the end."""
    began, positions, name = time.perf_counter(), [], ""
    body: dict[str, Any] = {"question": question, **({"thread": "new"} if thread else {})}
    async with client.stream("POST", "/ramify/v1/ask", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: ") and name == "waiting":
                positions.append(json.loads(line.removeprefix("data: "))["position"])
            elif line.startswith("data: ") and name == "error":
                print(f"  {line.removeprefix('data: ')}")
    return ClientResult(name, time.perf_counter() - began, positions)


async def measure(url: str, process: int, questions: list[str], rounds: int, thread: bool) -> tuple[int, list[float]]:
    """Ask all questions at once, round by round; print what came of it, and return how many were lost, and the memory."""
    lost, after = 0, []
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE, limits=limits, trust_env=False) as client:
        for number in range(1, rounds + 1):
            began = time.perf_counter()
            asked = await asyncio.gather(*(ask(client, question, thread) for question in questions))
            seconds = time.perf_counter() - began
            answered = [reply for reply in asked if reply.ended == "result"]
            overtaken = sum(later > before for reply in asked for before, later in zip(reply.positions, reply.positions[1:], strict=False))
            lost += len(asked) - len(answered) + overtaken
            after.append(memory(process))
            waits = sorted(reply.seconds for reply in answered)
            print(
                f"  round {number}: {len(answered)} of {len(asked)} answered, {overtaken} fell back in the queue, "
                f"{len(asked) / seconds:.1f} a second, half of them within {waits[len(waits) // 2]:.1f} s, {after[-1]:,.0f} MiB"
            )
    return lost, after


def main() -> int:
    """Measure with and without conversations that are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=4)
    arguments = parser.parse_args()
    questions = list(islice(cycle(question.question for question in load_demo("demo:development").questions), arguments.questions))
    missed = 0
    for thread in (False, True):
        kept = "each a conversation that is kept" if thread else "no conversation kept"
        with serving(arguments.at_once) as (url, process):
            print(
                f"{arguments.questions} questions at once, {arguments.at_once} answered at a time, {kept}: "
                f"{memory(process):,.0f} MiB when ready"
            )
            lost, after = asyncio.run(measure(url, process, questions, arguments.rounds, thread))
        growth = after[-1] / after[min(1, len(after) - 1)]
        print(f"  lost: {lost} (target 0); memory after the last round / after the second: {growth:.3f} (target <= {FLAT})")
        missed += bool(lost) + (growth > FLAT)
    print("targets missed:", missed)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
