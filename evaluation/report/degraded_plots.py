"""The plots of degraded metadata: each system along a share, and the ablations as bars."""

from matplotlib.axes import Axes

from ramify.evaluation.degraded import ABLATIONS, MISSING, NOISE, SYSTEMS, UNREAD
from ramify.evaluation.report.columns import HITS1, R10
from ramify.evaluation.report.degraded_means import Means, Point
from ramify.evaluation.report.drawing import INKS, TEXT, Sheet, ink, label, marker, styled
from ramify.evaluation.report.measures import Estimate, Measure


def curves(told: Means, measure: Measure, name: str) -> str:
    """Draw a measure along the share of missing metadata, and along that of wrong ones, a line a system."""
    with styled():
        ways = [way for way in (MISSING, NOISE) if len(told.along(way)) > 1]
        sheet = Sheet(len(ways) or 1, 2, (4.6, 3.2))
        for axes, way in zip(sheet.axes, ways or [MISSING], strict=False):
            _curves(axes, told, measure, way)
        sheet.legend(sheet.axes)
        return sheet.svg(name)


def _curves(axes: Axes, told: Means, measure: Measure, way: str) -> None:
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


def bars(told: Means, name: str) -> str:
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
    spread = [
        [abs(100 * end - value) for end, value in zip(ends, values, strict=True)] for ends in zip(*map(_ends, found.values()), strict=True)
    ]
    axes.barh(range(len(names)), values, color=INKS[0], height=0.62, xerr=spread or None, ecolor=TEXT, error_kw={"elinewidth": 1})
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"{measure.title}, percent")


def _ends(one: Estimate) -> tuple[float, float]:
    return (one.value if one.low is None else one.low, one.value if one.high is None else one.high)
