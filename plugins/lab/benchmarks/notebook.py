"""Measure how soon the notebook's chat moves: from a question to its first visible progress, and to its first branch.

    python plugins/lab/benchmarks/notebook.py

A model of fixed latency answers. Every figure is a share of one model call, or of the whole turn; exits 1 where a target is missed.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from ramify.studio import Chat
from tests.fakes import FakeModel
from tests.river import QUESTION, replies, river

LATENCY = 0.5
FIRST = 0.1
"""Of one model call: the first progress is there before a reader wonders."""
BRANCH = 1.5
"""Of one model call: the first sub-questions are drawn while the second call is on."""
MARGIN = 0.1
"""Of the whole turn: what the widgets add to the run."""


def values(widget: Any) -> Iterator[str]:
    """Return all that a widget and those in it send to the browser."""
    yield str(getattr(widget, "value", ""))
    for child in getattr(widget, "children", ()):
        yield from values(child)


async def turn(strategy: str) -> tuple[float, float, float, float]:
    """Ask once through the box; return the seconds to the first progress, the first sub-question and the answer, and those of the run."""
    chat = Chat(index=river(), strategy=strategy, model=FakeModel(replies=replies, latency=LATENCY, logprobs=True))
    seen: dict[str, float] = {}
    chat.box.value = QUESTION
    began = time.perf_counter()
    chat.send.click()
    while not chat.results:
        markup = "".join(values(chat.turns[0]))
        for what, sign in (("progress", 'role="status"'), ("branch", 'class="path">0.0')):
            if sign in markup:
                seen.setdefault(what, time.perf_counter() - began)
        await asyncio.sleep(0.002)
    return seen["progress"], seen["branch"], time.perf_counter() - began, chat.results[0].usage.wall_s


async def main() -> int:
    """Print the figures; count the targets missed."""
    missed = 0
    await turn("tor")  # imports and caches, once
    targets = f"progress <= {FIRST} calls, sub-question <= {BRANCH} calls, added by the widgets <= {MARGIN} of the turn"
    print(f"one question, model of {LATENCY} s a call; targets: {targets}")
    for strategy in ("tor", "prune"):
        progress, branch, whole, run = min([await turn(strategy) for _ in range(3)], key=lambda times: times[1])
        added = (whole - run) / whole
        missed += progress / LATENCY > FIRST or branch / LATENCY > BRANCH or added > MARGIN
        print(
            f"  {strategy}: first progress {progress / LATENCY:.4f} calls ({progress / whole:.4f} of the turn)"
            f"  first sub-question {branch / LATENCY:.2f} calls ({branch / whole:.2f} of the turn)  added by the widgets {added:.3f}"
        )
    print("targets missed:", missed)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
