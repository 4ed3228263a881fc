"""The plots of a report, drawn with matplotlib: answers, quality against cost, sweeps, calibration, and what degraded metadata do."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from ramify.evaluation.metrics.calibration import reliability, risk_coverage
from ramify.evaluation.report.chart_style import INKS, RULE, TEXT, Sheet, ink, label, marker, styled
from ramify.evaluation.results.columns import CALLS, EM, F1, HITS1, R10
from ramify.evaluation.results.degraded_means import Means, Point
from ramify.evaluation.results.measures import Estimate, Measure, confident
from ramify.evaluation.results.run import Line
from ramify.evaluation.results.sweeps import Sweep, order
from ramify.evaluation.searching.degraded_cells import ABLATIONS, MISSING, NOISE, SYSTEMS, UNREAD

Asked = Mapping[str, Sequence[Line]]
"""Lines by strategy."""
APART = 0.13
"""Between the EM and the F1 of a strategy."""


def answers(asked: Mapping[str, Asked]) -> Markup:
    """Draw EM and F1 of every strategy with their intervals, a panel a data set."""
    with styled():
        sheet = Sheet(len(asked), 2, (4.3, 0.34 * max(map(len, asked.values())) + 0.9))
        for axes, (dataset, strategies) in zip(sheet.axes, asked.items(), strict=False):
            _answers(axes, strategies)
            axes.set_title(label(dataset))
        return sheet.svg("answers")


def _answers(axes: Axes, strategies: Asked) -> None:
    names = list(strategies)
    for place, (name, lines) in enumerate(strategies.items()):
        colour, mark = ink(name, names), marker(name, names)
        for measure, height, face in ((EM, place - APART, colour), (F1, place + APART, "none")):
            if told := measure.of(lines):
                axes.plot(_interval(told), [height, height], color=colour, linewidth=1.3)
                axes.plot(100 * told.value, height, marker=mark, color=colour, markerfacecolor=face, linestyle="none")
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("percent (EM filled, F1 hollow), 95 % interval")


def pareto(asked: Mapping[str, Asked]) -> Markup:
    """Draw F1 over model calls, a panel a data set; the line joins the strategies that none beats at their cost."""
    with styled():
        sheet = Sheet(len(asked), 2, (4.3, 2.9))
        for axes, (dataset, strategies) in zip(sheet.axes, asked.items(), strict=False):
            _pareto(axes, strategies)
            axes.set_title(label(dataset))
        sheet.legend(sheet.axes)
        return sheet.svg("pareto")


def _pareto(axes: Axes, strategies: Asked) -> None:
    names = list(strategies)
    points = {name: (calls, f1) for name, lines in strategies.items() if (calls := CALLS.of(lines)) and (f1 := F1.of(lines))}
    front = frontier([(calls.value, 100 * f1.value) for calls, f1 in points.values()])
    axes.plot([cost for cost, _ in front], [quality for _, quality in front], color=TEXT, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    for name, (calls, f1) in points.items():
        axes.plot([calls.value] * 2, _interval(f1), color=ink(name, names), linewidth=1.2)
        axes.plot(calls.value, 100 * f1.value, marker=marker(name, names), color=ink(name, names), linestyle="none", label=label(name))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("model calls a question (mean, log scale)")
    axes.set_ylabel("F1, percent")


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the points of (cost, quality) that no cheaper one equals."""
    kept: list[tuple[float, float]] = []
    for cost, quality in sorted(points, key=lambda point: (point[0], -point[1])):
        if not kept or quality > kept[-1][1]:
            kept.append((cost, quality))
    return kept


def _interval(told: Estimate) -> list[float]:
    """Give the interval of an estimate in percent; the estimate twice where it has none."""
    return [100 * (told.value if end is None else end) for end in (told.low, told.high)]


def sweep(curves: Sequence[Sweep], name: str) -> Markup:
    """Draw EM, F1 and calls along a setting, a line a data set."""
    with styled():
        sheet = Sheet(3, 3, (2.9, 2.5))
        for axes, measure in zip(sheet.axes, (EM, F1, CALLS), strict=True):
            _swept(axes, curves, measure)
        sheet.legend(sheet.axes)
        return sheet.svg(name)


def _swept(axes: Axes, curves: Sequence[Sweep], measure: Measure) -> None:
    values = sorted({value for curve in curves for value, _ in curve.points}, key=order)
    datasets = [curve.dataset for curve in curves]
    factor = 1 if measure is CALLS else 100
    for curve in curves:
        points = [(values.index(value), told) for value, lines in curve.points if (told := measure.of(lines))]
        places, colour = [place for place, _ in points], ink(curve.dataset, datasets)
        means = [factor * told.value for _, told in points]
        low, high = (
            [factor * (end or 0.0) for end in ends] for ends in ([told.low for _, told in points], [told.high for _, told in points])
        )
        axes.plot(places, means, marker=marker(curve.dataset, datasets), color=colour, label=label(curve.dataset))
        axes.fill_between(places, low, high, color=colour, alpha=0.13, linewidth=0)
    axes.set_xticks(range(len(values)), [label(value) for value in values])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(label(curves[0].setting))
    axes.set_title("model calls a question" if measure is CALLS else f"{measure.title}, percent")


def calibration(asked: Mapping[str, Mapping[str, Sequence[Line]]]) -> Markup:
    """Draw reliability and risk against coverage, a row a data set."""
    with styled():
        sheet = Sheet(2 * len(asked), 2, (4.3, 2.9))
        for place, (dataset, strategies) in enumerate(asked.items()):
            reliable, risky = sheet.axes[2 * place : 2 * place + 2]
            reliable.plot([0, 1], [0, 1], color=RULE, linewidth=1, linestyle=(0, (4, 3)))
            for name, lines in strategies.items():
                _sure(reliable, risky, name, lines, list(strategies))
            reliable.set(title=f"{label(dataset)}: reliability", xlabel="confidence", ylabel="share right", xlim=(0, 1.02), ylim=(0, 1.02))
            risky.set(title=f"{label(dataset)}: risk and coverage", xlabel="answered, percent", ylabel="wrong of those, percent")
            risky.set(xlim=(0, 101), ylim=(0, 101))
        sheet.legend(sheet.axes[::2])
        return sheet.svg("calibration")


def _sure(reliable: Axes, risky: Axes, name: str, lines: Sequence[Line], names: Sequence[str]) -> None:
    colour, mark = ink(name, names), marker(name, names)
    bins, curve = reliability(*confident(lines)), risk_coverage(*confident(lines))
    sure, right = [one.confidence for one in bins], [one.right for one in bins]
    reliable.plot(sure, right, marker=mark, markersize=4.5, linewidth=1.1, color=colour, label=label(name))
    risky.plot([100 * share for share in curve.coverage], [100 * share for share in curve.risk], color=colour, linewidth=1.3)


def along_shares(told: Means, measure: Measure, name: str) -> Markup:
    """Draw a measure along the share of missing metadata, and along that of wrong ones, a line a system."""
    with styled():
        ways = [way for way in (MISSING, NOISE) if len(told.along(way)) > 1]
        sheet = Sheet(len(ways) or 1, 2, (4.6, 3.2))
        for axes, way in zip(sheet.axes, ways or [MISSING], strict=False):
            _along_shares(axes, told, measure, way)
        sheet.legend(sheet.axes)
        return sheet.svg(name)


def _along_shares(axes: Axes, told: Means, measure: Measure, way: str) -> None:
    names = [name for name in told.systems if not SYSTEMS[name].once or name in UNREAD]
    for place, system in enumerate(names):
        found = [(100 * point.share, one.value) for point in told.along(way) if (one := measure.of(told.of(system, point)))]
        style = "solid" if place < len(INKS) else "dashed"
        axes.plot(
            [share for share, _ in found], [100 * value for _, value in found],
            color=ink(system, names), marker=marker(system, names), markersize=4.5, linestyle=style, label=label(system),
        )  # fmt: skip
    axes.set_xticks([100 * point.share for point in told.along(way)])
    axes.set(title=f"{measure.title}, percent", xlabel=f"documents whose metadata are {'missing' if way == MISSING else 'wrong'}, percent")


def ablations(told: Means, name: str) -> Markup:
    """Draw recall@10 and hits@1 of the ablations that were run."""
    with styled():
        sheet = Sheet(2, 2, (4.6, 3.0))
        for axes, measure in zip(sheet.axes, (R10, HITS1), strict=True):
            _bars(axes, told, measure)
        return sheet.svg(name)


def _bars(axes: Axes, told: Means, measure: Measure) -> None:
    there = set(told.points)
    points = {name: (system, Point(degraded, share)) for name, (system, degraded, share) in ABLATIONS.items()}
    found = {name: one for name, (system, at) in points.items() if at in there and (one := measure.of(told.of(system, at)))}
    names = list(found)
    values = [100 * found[name].value for name in names]
    ends = zip(*map(_interval, found.values()), strict=True)
    spread = [[abs(end - value) for end, value in zip(side, values, strict=True)] for side in ends]
    axes.barh(range(len(names)), values, color=INKS[0], height=0.62, xerr=spread or None, ecolor=TEXT, error_kw={"elinewidth": 1})
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"{measure.title}, percent")
