"""Measure what several servers of a model bring: the same calls at one, two and four of fixed latency, and with one that is dead or dies.

    python plugins/lab/benchmarks/servers.py [--seconds 0.2] [--calls 60]

Each server is a process of its own that serves one call at a time. Every figure is a ratio to the one server of the same run; exits 1 where
a target is missed. A call costs about 10 ms of a core here: with calls much shorter, or a busy machine, that is what is measured.
"""

import argparse
import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from ramify.tools.models import Model, ModelOptions, clear_cache, resolve_model
from tests.tools.model_process import ModelProcess, processes

TARGETS = {2: 1.9, 4: 3.8}
"""Times the throughput of one server, at least."""
DEAD = 0.95
"""The throughput of two servers of which one was never there, at least, to that of one."""
DYING = 1.27
"""That of two of which one is killed when half of the calls are served; 1.33 is what they could."""


class AnsweredCall(BaseModel):
    """A reply."""

    answer: str


async def ask(model: Model, calls: int, then: Callable[[int], None]) -> None:
    """Make the calls, all that the servers take at once; `then` is told after each how many are served."""
    served = 0

    async def one(number: int) -> None:
        nonlocal served
        await model.reply([SystemMessage("Answer in JSON."), HumanMessage(f"Question {number}")], AnsweredCall)
        served += 1
        then(served)

    await asyncio.gather(*(one(number) for number in range(calls)))


def rate(servers: Sequence[ModelProcess], calls: int, then: Callable[[int], None] = lambda served: None) -> tuple[float, Model]:
    """Return the calls that are served in a second."""
    clear_cache()
    model = resolve_model("openai:local", ModelOptions(base_url=" ".join(server.address for server in servers), max_concurrency=2))
    asyncio.run(ask(model, 4 * len(servers), lambda served: None))  # connections and clients are made
    began = time.perf_counter()
    asyncio.run(ask(model, calls, then))
    return calls / (time.perf_counter() - began), model


def main() -> int:
    """Print the table; count the targets missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="what a server takes for a call")
    parser.add_argument("--calls", type=int, default=60, help="calls that one server is given")
    arguments = parser.parse_args()
    missed = 0

    def tell(what: str, figure: float, target: float, note: str = "") -> None:
        nonlocal missed
        missed += figure < target
        print(f"{what}: {figure:.2f} times the throughput of one, target >= {target:g}{note}")

    with processes(4, arguments.seconds) as servers:
        one, _ = rate(servers[:1], arguments.calls)
        print(f"one server: {one:.1f} calls a second, {one * arguments.seconds:.2f} of what its {arguments.seconds:g} s a call allow")
        for number, target in TARGETS.items():
            tell(f"{number} servers", rate(servers[:number], arguments.calls * number)[0] / one, target)
        servers[3].kill()
        tell("two, one of them never there", rate(servers[2:], arguments.calls)[0] / one, DEAD)

        def half(served: int) -> None:
            if served == arguments.calls // 2:
                threading.Thread(target=servers[1].kill).start()

        figure, model = rate(servers[:2], arguments.calls, half)
        tell("two, one of them killed halfway", figure / one, DYING)
        print("said of it:", *model.learned_notices, sep="\n  ")
    print("targets missed:", missed)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
