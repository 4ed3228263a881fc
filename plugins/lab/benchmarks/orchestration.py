"""Measure what the graphs themselves cost: wall time against the critical path of a model of fixed latency, and how busy a cap is kept.

    python plugins/lab/benchmarks/orchestration.py

Every figure is a ratio or a count of one run on this machine; exits 1 where a target is missed.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from langgraph.func import task
from langgraph.graph import START, StateGraph

import ramify.graphs as graphs
from ramify.kinds.building import build_graph
from ramify.prompts import MAP_REPORT as MAP
from ramify.prompts import REDUCE
from ramify.tools.demo import demo_corpus
from ramify.tools.index import Index
from tests.fakes import FakeModel
from tests.river import QUESTION, replies, river

LATENCY = 0.2
WALL = 1.05
BUSY = 0.90
CAP = 8
GROWN: Mapping[str, Any] = {"dependent": False}
"""How the strategies that grow a tree are asked."""
BATCH_TOKENS = 850
"""Of reports of the demo corpus: 16 batches of its deepest level."""


def full_tree(prompt: str, slots: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reply so that the tree grows to its full size: everything splits in two, nothing is sure."""
    question = slots.get("question", "")
    parts = [f"{question} / a", f"{question} / b"]
    if prompt == "decompose":
        return {"simple": False, "first": parts[0], "second": parts[1]}
    if prompt == "decide":
        return {"action": "decompose", "answer": "", "confidence": 0, "citations": [], "questions": parts, "entities": []}
    if prompt == "answer":
        return {"answer": f"answer to {question}", "confidence": 0.5, "citations": [1]}
    return replies(prompt, slots)


class Metered(FakeModel):
    """Watch how many calls are in flight."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self._busy, self._most, self._area, self._since = 0, 0, 0.0, 0.0

    def _move(self, by: int) -> None:
        now = time.perf_counter()
        self._area += self._busy * (now - self._since) if self._since else 0.0
        self._since, self._busy = now, self._busy + by
        self._most = max(self._most, self._busy)

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        self._move(+1)
        try:
            return await super()._agenerate(*args, **kwargs)
        finally:
            self._move(-1)


def reported(folder: str) -> str:
    """Index the demo corpus, with a graph on top; return the folder."""
    Index.build([demo_corpus()], folder)
    build_graph(Path(folder))
    return folder


async def wall(strategy: str, options: Mapping[str, Any], index: Any = None) -> tuple[graphs.Result, float]:
    """Run once and return the result with its wall time over its critical path."""
    model = FakeModel(replies=full_tree, latency=LATENCY, logprobs=True)
    result = await graphs.ask_async(QUESTION, strategy, model=model, index=index or river(), max_concurrency=1000, **options)
    return result, result.usage.wall_s / (result.usage.critical_path_calls * LATENCY)


async def bare(parts: int) -> float:
    """Return the same for what `global` cannot do without: five nodes of LangGraph, a task of it a part, LangChain's structured calls."""
    model = FakeModel(replies=full_tree, latency=LATENCY, logprobs=True)
    slots = {"question": QUESTION, "passages": [{"title": "Seine", "text": "It runs through Paris. " * 150, "source": "community 0"}]}
    calls = {prompt.name: (model.with_structured_output(prompt.reply, include_raw=True), prompt.render(slots)) for prompt in (MAP, REDUCE)}

    async def call(name: str) -> None:
        asked, messages = calls[name]
        await asked.ainvoke(messages)

    part = task(name="part")(call)

    async def nothing(state: dict[str, Any]) -> None: ...

    async def side_by_side(state: dict[str, Any]) -> None:
        await asyncio.gather(*(part(MAP.name) for _ in range(parts)))

    async def join(state: dict[str, Any]) -> None:
        await call(REDUCE.name)

    graph = StateGraph(dict)
    steps = {"init_tree": nothing, "retrieve": nothing, "map": side_by_side, "prune": nothing, "reduce": join}
    graph.add_sequence(list(steps.items()))
    graph.add_edge(START, "init_tree")
    ready = graph.compile()
    await ready.ainvoke({"question": QUESTION})
    began = time.perf_counter()
    await ready.ainvoke({"question": QUESTION})
    return (time.perf_counter() - began) / (2 * LATENCY)


async def crowd(strategy: str, questions: int) -> tuple[float, int, int]:
    """Run many questions at once under a cap; return the share of it that was busy, the most in flight, and how many ended."""
    model = Metered(replies=full_tree, latency=LATENCY, logprobs=True)
    index = river()
    began = time.perf_counter()
    asked = (
        graphs.ask_async(f"{QUESTION} {n}", strategy, model=model, index=index, max_concurrency=CAP, **GROWN) for n in range(questions)
    )
    results = await asyncio.wait_for(asyncio.gather(*asked), timeout=600)
    return model._area / (CAP * (time.perf_counter() - began)), model._most, len(results)


async def measured(reports: str, tries: int, questions: int) -> int:
    """Print the figures; count the targets missed."""
    missed = 0
    await wall("tor", {"redecompositions": 0, "max_depth": 1, **GROWN})  # imports and caches, once
    print(f"one question, model of {LATENCY} s, no cap: wall / (critical path x latency), target <= {WALL}")
    for strategy, options, calls, index in (
        ("tor", {"redecompositions": 0}, 29, None),
        ("tor", {"redecompositions": 0, "rubric": True}, 36, None),
        ("prune", {}, 4, None),
        ("prune", {"joint": False}, None, None),
        ("global", {"batch_tokens": BATCH_TOKENS}, 17, reports),
    ):
        kind = {} if index else GROWN
        times = [await wall(strategy, {**options, **kind}, index) for _ in range(tries)]
        result, ratio = min(times, key=lambda measurement: measurement[1])
        usage = result.usage
        row = f"{strategy} {options}: {ratio:.3f}  calls {usage.llm_calls}  path {usage.critical_path_calls}  branches {len(result.tree)}"
        missed += ratio > WALL or (calls is not None and usage.llm_calls > calls)
        print(f"  {row}")
    floor = min([await bare(result.usage.llm_calls - 1) for _ in range(tries)])
    print(f"  the same with LangGraph and LangChain and nothing else: {floor:.3f}")
    print(f"{questions} questions at once, cap {CAP}: share of the cap kept busy, target >= {BUSY}")
    for strategy in ("tor", "prune"):
        busy, most, ended = await crowd(strategy, questions)
        missed += busy < BUSY or most > CAP or ended < questions
        print(f"  {strategy}: {busy:.3f}  most at once {most}  ended {ended} of {questions}")
    print("targets missed:", missed)
    return min(missed, 1)


def main() -> int:
    """Measure; return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=3, help="times that each strategy is run: the fastest counts")
    parser.add_argument("--crowd", type=int, default=64, metavar="N", help="questions at once under a cap")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measured(reported(folder), arguments.tries, arguments.crowd))


if __name__ == "__main__":
    sys.exit(main())
