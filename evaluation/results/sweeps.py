"""Sweeps: a strategy along one of its settings, on the questions that every value was asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.evaluation.index_kinds import is_named
from ramify.evaluation.results.run import Line, Run


@dataclass(frozen=True)
class Sweep:
    """A setting of a strategy, on a data set, at several values."""

    dataset: str
    strategy: str
    setting: str
    points: Sequence[tuple[str, Sequence[Line]]]
    """Its values in order, each with its lines, on the questions that all of them have."""


def order(value: str) -> tuple[float, str]:
    """Sort values as numbers where they are numbers."""
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value


def swept(run: Run) -> Iterator[Sweep]:
    """Find the settings that were swept, with the values in order."""
    found: dict[tuple[str, str, str], list[tuple[str, list[Line]]]] = {}
    for (dataset, strategy, variant), lines in run.answered.items():
        setting, equals, value = variant.partition("=")
        if equals and not is_named(variant):
            found.setdefault((strategy, setting, dataset), []).append((value, lines))
    for (strategy, setting, dataset), points in found.items():
        if len(points) > 1:
            yield Sweep(dataset, strategy, setting, _shared(points))


def _shared(points: Sequence[tuple[str, list[Line]]]) -> list[tuple[str, list[Line]]]:
    """Keep the questions that every value was asked."""
    ids = set.intersection(*({line.row["id"] for line in lines} for _, lines in points))
    shared = [(value, [line for line in lines if line.row["id"] in ids]) for value, lines in points]
    return sorted(shared, key=lambda point: order(point[0]))
