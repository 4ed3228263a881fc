"""Measure what several servers of a model bring behind nginx: the same calls at one, two and four, and with one that is dead or dies.

    python plugins/lab/benchmarks/servers.py [--seconds 0.2] [--calls 60]

nginx runs with the configuration of docs/operating.md. Each server is a process of its own that serves one call at a time. Figures are
ratios to one server of the same run; exits 1 where a target is missed or an answer is lost. A call costs about 10 ms of a core here: with
calls much shorter, or a busy machine, that is what is measured.
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
from tests.tools.nginx import PROGRAM, proxied

TARGETS = {2: 1.8, 4: 3.6}
"""Least throughput, as a multiple of that of one server."""
DEAD = 0.95
"""Least throughput of two servers of which one was never there."""
DYING = 1.25
"""Least throughput of two of which one is killed when half of the calls are served; 1.33 is possible."""


class AnsweredCall(BaseModel):
    """A reply."""

    answer: str


async def ask(model: Model, calls: int, on_served: Callable[[int], None]) -> None:
    """Make the calls; `on_served` is called after each with the number served. An error if an answer is lost."""
    served = 0

    async def make_call(number: int) -> None:
        nonlocal served
        reply = await model.reply([SystemMessage("Answer in JSON."), HumanMessage(f"Question {number}")], AnsweredCall)
        assert reply.parsed is not None
        served += 1
        on_served(served)

    await asyncio.gather(*(make_call(number) for number in range(calls)))


def rate(servers: Sequence[ModelProcess], calls: int, on_served: Callable[[int], None] = lambda served: None) -> float:
    """Return the calls that are served in a second."""
    with proxied([server.port for server in servers]) as address:
        clear_cache()
        model = resolve_model("openai:local", ModelOptions(base_url=address, max_concurrency=2 * len(servers)))
        asyncio.run(ask(model, 4 * len(servers), lambda served: None))  # connections and clients are made
        began = time.perf_counter()
        asyncio.run(ask(model, calls, on_served))
        return calls / (time.perf_counter() - began)


def main() -> int:
    """Print a table; count the targets missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="what a server takes for a call")
    parser.add_argument("--calls", type=int, default=60, help="calls that one server is given")
    arguments = parser.parse_args()
    if PROGRAM is None:
        print("nginx is not installed (Debian and Ubuntu: apt-get install nginx-light)", file=sys.stderr)
        return 1
    missed = 0

    def print_row(servers: str, ratio: float, target: float) -> None:
        nonlocal missed
        missed += ratio < target
        print(f"| {servers} | {ratio:.2f} | {target:g} |", flush=True)

    with processes(4, arguments.seconds) as servers:
        single = rate(servers[:1], arguments.calls)
        print(f"one server: {single:.1f} calls a second, {single * arguments.seconds:.2f} of what {arguments.seconds:g} s a call allow")
        print("\n| servers behind nginx | throughput | at least |\n|---|--:|--:|")
        for number, target in TARGETS.items():
            print_row(str(number), rate(servers[:number], arguments.calls * number) / single, target)
        servers[3].kill()
        print_row("2, one never there", rate(servers[2:], arguments.calls) / single, DEAD)

        def kill_at_half(served: int) -> None:
            if served == arguments.calls // 2:
                threading.Thread(target=servers[1].kill).start()

        print_row("2, one killed halfway", rate(servers[:2], arguments.calls, kill_at_half) / single, DYING)
    print("\ntargets missed:", missed)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
