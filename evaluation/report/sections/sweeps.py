"""Sweeps: a strategy along one of its settings, on the questions that every value was asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.evaluation.index_kinds import is_named
from ramify.evaluation.report.blocks import Block, Plot, Section, Table, Where, Words
from ramify.evaluation.report.tables import Group, measured
from ramify.evaluation.results.columns import CALLS, EM, F1, FORGETTING, SECONDS
from ramify.evaluation.results.run import Line, Run

SWEPT = (EM, F1, FORGETTING, CALLS, SECONDS)


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


def sweeps(run: Run) -> Section | None:
    """Draw the curves of what was swept, with their figures; none where nothing was."""
    found: dict[tuple[str, str], list[Sweep]] = {}
    for sweep in _swept(run):
        found.setdefault((sweep.strategy, sweep.setting), []).append(sweep)
    if not found:
        return None
    told = "Each curve is on the questions that every value of the setting was asked, so that its points can be compared."
    blocks: list[Block] = [Words(told)]
    for number, ((strategy, setting), curves) in enumerate(found.items()):
        caption = f"{strategy} along {setting}: answers and cost, with 95 % intervals; a line a data set."
        blocks += [Plot.drawn(caption, "sweep", curves, f"sweep-{number}"), *map(_table, curves)]
    return Section("sweeps", "Along a setting", blocks)


def _swept(run: Run) -> Iterator[Sweep]:
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


def _table(sweep: Sweep) -> Table:
    names = [f"{sweep.setting}={value}" for value, _ in sweep.points]
    groups = [
        Group(value, lines, Where(sweep.dataset, sweep.strategy, name)) for (value, lines), name in zip(sweep.points, names, strict=True)
    ]
    title = f"{sweep.strategy}: {sweep.setting} on {sweep.dataset}"
    return measured(title, groups, SWEPT, lead=sweep.setting, lines=Where(sweep.dataset, sweep.strategy, names[0]).jq)
