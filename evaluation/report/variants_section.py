"""Sweeps and ablations: each variant beside the strategy as it is, on the same questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.evaluation.index_kinds import is_named
from ramify.evaluation.report.blocks import Cell, Section, Table, Where, Words
from ramify.evaluation.report.columns import CALLS, EM, F1, FORGETTING, SECONDS
from ramify.evaluation.report.paired import Contest, common, paired_table
from ramify.evaluation.report.run import Line, Run
from ramify.evaluation.report.tables import Group, measured

SWEPT = (EM, F1, FORGETTING, CALLS, SECONDS)


@dataclass(frozen=True)
class Sweep:
    """A setting of a strategy, on a data set, at several values."""

    dataset: str
    strategy: str
    setting: str
    points: Sequence[tuple[str, Sequence[Line]]]
    """Its values in order, each with its lines, on the questions that all of them have."""

    @property
    def title(self) -> str:
        """Name it."""
        return f"{self.strategy}: {self.setting} on {self.dataset}"


def sweeps(run: Run) -> list[Sweep]:
    """Find the settings that were swept."""
    found: dict[tuple[str, str, str], list[tuple[str, list[Line]]]] = {}
    for (dataset, strategy, variant), lines in run.answered.items():
        setting, equals, value = variant.partition("=")
        if equals and not is_named(variant):
            found.setdefault((strategy, setting, dataset), []).append((value, lines))
    return [Sweep(dataset, strategy, setting, _shared(points)) for (strategy, setting, dataset), points in found.items() if len(points) > 1]


def _shared(points: Sequence[tuple[str, list[Line]]]) -> list[tuple[str, list[Line]]]:
    """Keep the questions that every value was asked, and put the values in order."""
    ids = set.intersection(*({line.row["id"] for line in lines} for _, lines in points))
    return [
        (value, [line for line in lines if line.row["id"] in ids]) for value, lines in sorted(points, key=lambda point: order(point[0]))
    ]


def order(value: str) -> tuple[float, str]:
    """Sort values as numbers where they are numbers."""
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value


def sweep_tables(found: Sequence[Sweep]) -> Iterator[Table]:
    """Give the figures of each sweep."""
    for sweep in found:
        names = [f"{sweep.setting}={value}" for value, _ in sweep.points]
        places = [Where(sweep.dataset, sweep.strategy, name) for name in names]
        groups = [Group(value, lines, where) for (value, lines), where in zip(sweep.points, places, strict=True)]
        yield measured(sweep.title, groups, SWEPT, lead=sweep.setting, lines=Where(sweep.dataset, sweep.strategy, names[0]).jq)


def ablations(run: Run) -> Section | None:
    """Compare each strategy with itself less a part, on the questions both were asked; none where nothing was left out."""
    contests = []
    for (dataset, strategy, variant), lines in run.answered.items():
        pairs = common(lines, run.answered.get((dataset, strategy, ""), []))
        if variant and "=" not in variant and pairs:
            where = Where(dataset, strategy, variant, beside=(strategy, ""))
            names = [Cell(dataset), Cell(strategy), Cell(variant, where=where, head=True)]
            contests.append(Contest(names, pairs, where, [_calls(pairs)]))
    if not contests:
        return None
    note = "The variant less the strategy as it is, in points: below zero, the part helps. Calls: with the part, and without it."
    lines_of = "jq -c 'select(.variant != \"\")' results.jsonl"
    table = paired_table("Ablations", contests, ("data set", "strategy", "variant"), "the whole", note, lines_of, "calls")
    return Section("ablations", "What each part brings", [table])


def _calls(pairs: Sequence[tuple[Line, Line]]) -> Cell:
    without, whole = (CALLS.of([pair[place] for pair in pairs]) for place in (0, 1))
    return Cell(f"{CALLS.shown(whole.value)} → {CALLS.shown(without.value)}") if without and whole else Cell("–")


def sweep_words() -> Words:
    """Say what the sweeps' figures rest on."""
    return Words("Each curve is on the questions that every value of the setting was asked, so that its points can be compared.")
