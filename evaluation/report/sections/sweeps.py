"""Sweeps: curves of a strategy along one of its settings, with their figures."""

from ramify.evaluation.report.blocks import Block, Plot, Section, Table, Where, Words
from ramify.evaluation.report.tables import Group, measured
from ramify.evaluation.results.columns import CALLS, EM, F1, FORGETTING, SECONDS
from ramify.evaluation.results.run import Run
from ramify.evaluation.results.sweeps import Sweep, swept

SWEPT = (EM, F1, FORGETTING, CALLS, SECONDS)


def sweeps(run: Run) -> Section | None:
    """Draw the curves of what was swept, with their figures; none where nothing was."""
    found: dict[tuple[str, str], list[Sweep]] = {}
    for sweep in swept(run):
        found.setdefault((sweep.strategy, sweep.setting), []).append(sweep)
    if not found:
        return None
    told = "Each curve is on the questions that every value of the setting was asked, so that its points can be compared."
    blocks: list[Block] = [Words(told)]
    for number, ((strategy, setting), curves) in enumerate(found.items()):
        caption = f"{strategy} along {setting}: answers and cost, with 95 % intervals; a line a data set."
        blocks += [Plot.drawn(caption, "sweep", curves, f"sweep-{number}"), *map(_table, curves)]
    return Section("sweeps", "Along a setting", blocks)


def _table(sweep: Sweep) -> Table:
    names = [f"{sweep.setting}={value}" for value, _ in sweep.points]
    groups = [
        Group(value, lines, Where(sweep.dataset, sweep.strategy, name)) for (value, lines), name in zip(sweep.points, names, strict=True)
    ]
    title = f"{sweep.strategy}: {sweep.setting} on {sweep.dataset}"
    return measured(title, groups, SWEPT, lead=sweep.setting, lines=Where(sweep.dataset, sweep.strategy, names[0]).jq)
