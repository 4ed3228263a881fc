"""Measure the development server: 16 threads at once against one, with the embedded default on the demo corpus.

    python plugins/lab/benchmarks/dev_server.py

Every figure is a ratio or a count of one run on this machine; exits 1 where a target is missed.
"""

import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[3]))

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.studio.dev_server import dev_server

QUESTION = "In which city was the inventor of the ballpoint pen born?"
ANSWER = "Budapest"
THREADS = 16
TARGET = 8
TRIES = 3


async def run(client: LangGraphClient, strategy: str) -> str:
    """Ask on a new thread; return the answer, or what went wrong."""
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, strategy, input={"question": QUESTION}, context={"model": "extractive"}, raise_error=False)
    state = await client.threads.get_state(thread)
    failed = [str(task.get("error")) for task in state["tasks"]]
    return str(dict(state["values"]).get("answer", failed))


async def wall(client: LangGraphClient, strategy: str, threads: int) -> tuple[float, list[str]]:
    """Ask on `threads` threads concurrently; return the seconds until all have ended, and the answers."""
    began = time.perf_counter()
    answers = await asyncio.gather(*(run(client, strategy) for _ in range(threads)))
    return time.perf_counter() - began, answers


async def measure(url: str) -> int:
    """Print the figures; count the targets missed."""
    missed = 0
    async with get_client(url=url) as client:
        for strategy in ("prune", "tor"):
            await run(client, strategy)  # imports and weights, once
            alone = min([(await wall(client, strategy, 1))[0] for _ in range(TRIES)])
            many, answers = await wall(client, strategy, THREADS)
            wrong = [answer for answer in answers if answer != ANSWER]
            missed += bool(wrong) + (many / alone > TARGET)
            print(f"  {strategy}: {many / alone:.2f}  ended {len(answers) - len(wrong)} of {THREADS}", *wrong[:1])
    return missed


def main() -> int:
    """Start the server, measure, and look into its log."""
    print(f"{THREADS} threads at once: wall time over one thread's, target <= {TARGET}, all ended well")
    with TemporaryDirectory() as folder, dev_server(Path(folder)) as server:
        missed = asyncio.run(measure(server.url))
        complaints = server.complaints()
    print("complaints in the server's log:", len(complaints), *complaints[:1])
    print("targets missed:", missed + bool(complaints))
    return min(missed + bool(complaints), 1)


if __name__ == "__main__":
    sys.exit(main())
