"""Measure whether tau of `prune` should depend on the depth, the agreement of the passages, or the kind of question.

    python plugins/lab/benchmarks/adaptive_tau.py POOL… [--limit 60]

POOL is a folder written by `pools.py`. Each policy says above which confidence an answer of the embedded model is accepted: the same
everywhere; one for the question itself and one for its parts; a lower one where two passages hold the answer. The tau of a kind of
question is chosen on one half of the questions and measured on the other, as is the single one beside it.
"""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import ramify.embedded.extractive._answers as answers
from ramify.embedded.extractive import model
from ramify.graphs import ask
from ramify.graphs.conditions import above_tau
from ramify.lab.load import load_dataset
from ramify.lab.metrics import bootstrap_interval, exact_match, token_f1
from ramify.nodes.tree import Branch, Tree
from ramify.tools.index import Index
from ramify.tools.names import contains_name

TAU = answers.TAU
Slots = Mapping[str, Any]
Policy = Callable[[Slots], float]
"""Returns the tau of a question from what the model is shown of it."""


class Scored(NamedTuple):
    """How well a question was answered, and by how many calls."""

    em: float
    f1: float
    calls: int


def by_depth(root: float, below: float) -> Policy:
    """Return the policy with one tau for the question itself and one for its parts."""
    return lambda slots: below if slots["above"] else root


def by_agreement(alone: float, agreed: float) -> Policy:
    """Return the policy with another tau where two passages hold the answer."""

    def tau(slots: Slots) -> float:
        answer = answers.read_answer(slots["question"], slots["passages"]).answer
        holding = sum(contains_name(quote["text"], answer) for quote in slots["passages"]) if answer else 0
        return agreed if holding > 1 else alone

    return tau


SAME = {f"{tau:g} everywhere": by_depth(tau, tau) for tau in (TAU, 0.4, 0.5, 0.7, 0.8)}
POLICIES: dict[str, Policy] = {
    **SAME,
    "question .8, parts .6": by_depth(0.8, 0.6),
    "question .7, parts .5": by_depth(0.7, 0.5),
    "question .5, parts .7": by_depth(0.5, 0.7),
    "question .6, parts .4": by_depth(0.6, 0.4),
    ".6, where two passages agree .45": by_agreement(0.6, 0.45),
    ".75, where two passages agree .6": by_agreement(0.75, 0.6),
}


@contextmanager
def accepting(policy: Policy) -> Iterator[None]:
    """Let the model answer, and the graph accept its answer, above the tau of a policy."""
    taus: dict[str, float] = {}
    shipped, holds = model._REPLIES["decide"], above_tau.holds

    def decide(slots: Slots) -> Mapping[str, Any]:
        answers.TAU = taus[slots["question"]] = policy(slots)  # type: ignore[misc, attr-defined]
        return shipped(slots)

    def accepted(tree: Tree, branch: Branch, settings: Any) -> bool:
        return branch.known and (branch.confidence or 0.0) > taus.get(branch.question, TAU)

    model._REPLIES["decide"] = decide
    object.__setattr__(above_tau, "holds", accepted)
    try:
        yield
    finally:
        model._REPLIES["decide"], answers.TAU = shipped, TAU  # type: ignore[misc, attr-defined]
        object.__setattr__(above_tau, "holds", holds)


def measure(pools: list[Path], limit: int) -> tuple[dict[str, dict[str, Scored]], dict[str, str]]:
    """Ask the first questions of each pool with each policy; return the scores by policy and question, and the kind of each question."""
    scores: dict[str, dict[str, Scored]] = defaultdict(dict)
    kinds: dict[str, str] = {}
    for pool in pools:
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as folder:
            dataset = load_dataset(pool, Path(work))
            Index.build(dataset.documents, folder)
            for name, policy in POLICIES.items():
                with accepting(policy):
                    for asked in dataset.questions[:limit]:
                        result = ask(asked.question, "prune", index=folder, model="extractive", max_concurrency=1, style="short")
                        kinds[asked.id] = f"{dataset.name}: {asked.type}"
                        told = exact_match(result.answer, asked.golds), token_f1(result.answer, asked.golds)
                        scores[name][asked.id] = Scored(*map(float, told), result.usage.llm_calls)
                print(f"{pool.name}: {name}", flush=True)
    return scores, kinds


def chosen_by_kind(scores: Mapping[str, Mapping[str, Scored]], kinds: Mapping[str, str]) -> dict[str, float]:
    """Return what each question gains in EM by the tau that is best for its kind on the other half, over the best single one there."""
    halves = list(kinds)[::2], list(kinds)[1::2]
    gains: dict[str, float] = {}
    for chosen_on, measured_on in (halves, halves[::-1]):
        single = max(SAME, key=lambda name: sum(scores[name][id].em for id in chosen_on))
        for id in measured_on:
            alike = [other for other in chosen_on if kinds[other] == kinds[id]]
            best = max(SAME, key=lambda name: (sum(scores[name][other].em for other in alike), name == single))
            gains[id] = scores[best][id].em - scores[single][id].em
    return gains


def shown(values: list[float]) -> str:
    low, high = bootstrap_interval(values)
    return f"{100 * fmean(values):+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path, metavar="POOL")
    parser.add_argument("--limit", type=int, default=60)
    given = parser.parse_args()
    scores, kinds = measure(given.pools, given.limit)
    first = scores[next(iter(SAME))]
    print(f"\n| tau, {len(kinds)} questions | EM / F1 | EM less {TAU:g} everywhere | calls |\n|---|---|---|--:|")
    for name, own in scores.items():
        em, f1, calls = (fmean(getattr(score, field) for score in own.values()) for field in Scored._fields)
        print(f"| {name} | {100 * em:.1f} / {100 * f1:.1f} | {shown([own[id].em - first[id].em for id in kinds])} | {calls:.1f} |")
    print(f"\nthe best by kind over the best single one, each chosen on the other half: {shown([*chosen_by_kind(scores, kinds).values()])}")


if __name__ == "__main__":
    main()
