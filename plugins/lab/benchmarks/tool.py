"""Measure what the tool costs an agent: its wall time against the graph called directly, with a model of fixed latency.

    python plugins/lab/benchmarks/tool.py

Both ways take turns in one run on this machine, and the fastest of each counts; exits 1 where the target is missed.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

import ramify.graphs as graphs
from plugins.lab.benchmarks.orchestration import LATENCY, full_tree
from tests.fakes import FakeModel
from tests.river import QUESTION, river

TARGET = 1.05
TURNS = 5
Way = Callable[[], Awaitable[Any]]


def ways(strategy: str, options: dict[str, Any]) -> dict[str, Way]:
    """Return the ways to ask: the graph itself, and the tool from asynchronous and from synchronous agents."""
    model = FakeModel(replies=full_tree, latency=LATENCY, logprobs=True)
    given = {"model": model, "index": river(), "max_concurrency": 1000, "dependent": False, **options}
    wiring, settings = graphs.configure(strategy, given)
    graph = wiring.compile()
    tool = graphs.research_tool(strategy, **given)
    agent = StateGraph(MessagesState).add_node("tools", ToolNode([tool])).add_edge(START, "tools").compile()
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}}
    asked = {"messages": [AIMessage("", tool_calls=[call])]}
    return {
        "graph": lambda: graph.ainvoke({"question": QUESTION}, context=settings),
        "tool": lambda: tool.ainvoke(call),
        "tool in an agent": lambda: agent.ainvoke(asked),
        "tool, synchronous": lambda: asyncio.to_thread(agent.invoke, asked),
    }


async def seconds(way: Way) -> float:
    """Measure one call."""
    began = time.perf_counter()
    await way()
    return time.perf_counter() - began


async def fastest(measured: dict[str, Way]) -> dict[str, float]:
    """Run the ways alternately; return the fastest time of each."""
    turns = [{name: await seconds(way) for name, way in measured.items()} for _ in range(TURNS)]
    return {name: min(turn[name] for turn in turns) for name in measured}


def main() -> int:
    """Print the ratios; return 1 where one is above the target."""
    missed = 0
    print(f"wall time of a question over that of the graph called directly, model of {LATENCY} s, target <= {TARGET}")
    for strategy, options in (("tor", {"redecompositions": 0}), ("prune", {})):
        times = asyncio.run(fastest(ways(strategy, options)))
        direct = times.pop("graph")
        for name, wall in times.items():
            missed += wall / direct > TARGET
            print(f"  {strategy}, {name}: {wall / direct:.3f}  ({direct:.3f} s directly)")
    print("targets missed:", missed)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
