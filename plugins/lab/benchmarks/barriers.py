"""Simulate what it costs that LangGraph ends a superstep when its slowest task ends: `python plugins/lab/benchmarks/barriers.py`.

Full trees of `tor` of depth 3 and of `prune`, staged, of depth 2, every call with a latency of its own and no limit of calls at once: the
time in supersteps, as a multiple of the time in which each branch goes on as soon as its own calls have ended.
"""

import argparse
import math
import random
from collections.abc import Callable
from functools import partial
from statistics import median, quantiles

Latency = Callable[[random.Random], float]
LATENCIES: dict[str, Latency] = {
    "equal, ±5 %": lambda chance: chance.uniform(0.95, 1.05),
    "lognormal, σ 0.8": lambda chance: math.exp(chance.gauss(0.0, 0.8)),
    "one in ten takes ten times as long": lambda chance: 10.0 if chance.random() < 0.1 else 1.0,
}


def tor(depth: int, draw: Callable[[], float]) -> tuple[float, float]:
    """Return the seconds of a tree of forks in supersteps, and without waiting for other forks; a last call concludes both."""
    barriers, ends = 0.0, [0.0]
    for _ in range(depth):
        forks = [(draw(), draw(), draw(), draw()) for _ in ends]  # decompose, two answers, judge
        barriers += max(f[0] for f in forks) + max(max(f[1], f[2]) for f in forks) + max(f[3] for f in forks)
        ended = [end + f[0] + max(f[1], f[2]) + f[3] for end, f in zip(ends, forks, strict=True)]
        ends = [end for end in ended for _ in range(2)]
    last = draw()
    return barriers + last, max(ends) + last


def prune(depth: int, draw: Callable[[], float]) -> tuple[float, float]:
    """Return the same of a tree in which each branch is answered, then split, and all are concluded together."""
    barriers, ends = 0.0, [0.0]
    for level in range(depth + 1):
        answers = [draw() for _ in ends]
        splits = [draw() if level < depth else 0.0 for _ in ends]
        barriers += max(answers) + max(splits)
        ended = [end + answer + split for end, answer, split in zip(ends, answers, splits, strict=True)]
        ends = [end for end in ended for _ in range(2)] if level < depth else ended
    last = draw()
    return barriers + last, max(ends) + last


def main() -> None:
    """Print one line for each tree and distribution of latencies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=5000, help="trees of each kind")
    trees = parser.parse_args().trees
    print("supersteps over no barriers: median, 95 of 100 trees at most")
    for name, tree, depth in (("tor", tor, 3), ("prune", prune, 2)):
        for label, latency in LATENCIES.items():
            chance = random.Random(0)
            ratios = [barriers / free for barriers, free in (tree(depth, partial(latency, chance)) for _ in range(trees))]
            print(f"{name}, {label}: {median(ratios):.2f}, {quantiles(ratios, n=20)[-1]:.2f}")


if __name__ == "__main__":
    main()
