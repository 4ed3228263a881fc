"""The plots of a report, drawn with matplotlib in colours that the page sets for light and dark; the same run gives the same bytes."""

import io
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from ramify.evaluation.degraded import MISSING
from ramify.evaluation.metrics import reliability, risk_coverage
from ramify.evaluation.report._run import frontier
from ramify.evaluation.results import ResultLine
from ramify.evaluation.results.calibration import Calibration
from ramify.evaluation.results.measures import CALLS, EM, F1, SECONDS, Estimate, Measure, confident
from ramify.evaluation.risk_control import Bound, Outcomes
from ramify.tools.quoting import one_line

TEXT, RULE, FAINT = "#f0e0a1", "#f0e0a2", "#f0e0a3"
INKS = tuple(f"#f0e0b{number}" for number in range(1, 8))
"""Placeholders, replaced by the page's CSS variables."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LABEL = 28
"""Characters of a name."""
PLACES = {"naive": 0, "chain": 1, "iterative": 2, "tor": 3, "prune": 4, "closed-book": 5, "ircot": 6, "self-ask": 7, "react": 8}
"""Strategies have the same colour in every report."""
STYLE: Any = {
    **{"svg.fonttype": "none", "svg.hashsalt": "ramify", "text.parse_math": False, "font.family": "DejaVu Sans", "font.size": 9.5},
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.labelcolor", "ytick.labelcolor"), TEXT),
    **dict.fromkeys(("axes.edgecolor", "grid.color", "xtick.color", "ytick.color"), RULE),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
    **{"axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left"},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.grid": True, "grid.linewidth": 0.6},
    **{"legend.frameon": False, "lines.linewidth": 1.6, "lines.markersize": 6},
}


def drawn(name: str, size: tuple[float, float], panels: Sequence[Callable[[Axes], None]], across: int = 2) -> Markup:
    """Return an SVG of panels in a grid with one legend; `name` prefixes its ids."""
    down, across = -(-len(panels) // across), min(across, len(panels))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(size[0] * across, size[1] * down + 0.35), layout="constrained")
        grid: list[Axes] = list(figure.subplots(down, across, squeeze=False).flat)
        for axes, panel in zip(grid, panels, strict=False):
            panel(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        told = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        if told:
            wide = (2 + 0.55 * max(map(len, told))) * STYLE["font.size"] / 72  # inches of an entry
            columns = max(1, min(6, len(told), int(figure.get_size_inches()[0] / wide)))
            placed: Any = {"loc": "outside upper left", "ncols": columns, "handletextpad": 0.4, "columnspacing": 1.4}
            figure.legend([*told.values()], [*told], **placed)
        with io.StringIO() as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the page's own font writes the text
            figure.savefig(file, format="svg", metadata={"Date": None})
            return _placed(file.getvalue(), name)


def ink(name: str, names: Sequence[str]) -> str:
    """Return the colour of a line among others."""
    return INKS[_place(name, names) % len(INKS)]


def marker(name: str, names: Sequence[str]) -> str:
    """Return the marker of a line among others, so that lines differ in more than colour."""
    return MARKERS[_place(name, names) % len(MARKERS)]


def label(name: str) -> str:
    """Return a name cut to fit beside a plot."""
    told = one_line(name)
    return told if len(told) <= LABEL else told[: LABEL - 1] + "…"


def _place(name: str, names: Sequence[str]) -> int:
    return PLACES.get(name, list(names).index(name))


def _placed(svg: str, name: str) -> Markup:
    """Return the svg element, with the page's colours and prefixed ids."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg[^>]*?) width="([\d.]+)pt" height="[\d.]+pt"', r'\1 style="--width: \2"', svg, count=1)
    inks = {
        TEXT: "var(--ink)",
        RULE: "var(--rule)",
        FAINT: "var(--faint)",
        **{placeholder: f"var(--ink-{place})" for place, placeholder in enumerate(INKS, 1)},
    }
    for placeholder, variable in inks.items():
        svg = svg.replace(placeholder, variable)
    return Markup(svg.strip())


Asked = Mapping[str, Sequence[ResultLine]]
"""Lines by strategy."""
APART = 0.13
"""Between the EM and the F1 of a strategy."""
DASHED = (0, (4, 3))


def answers(asked: Mapping[str, Asked]) -> Markup:
    """Draw EM and F1 of every strategy with their intervals, a panel a data set."""
    size = (3.2 + 0.06 * max(len(label(name)) for names in asked.values() for name in names), 0.34 * max(map(len, asked.values())) + 0.9)
    return drawn("answers", size, [partial(_answers, dataset, strategies) for dataset, strategies in asked.items()])


def _answers(dataset: str, strategies: Asked, axes: Axes) -> None:
    names = list(strategies)
    for place, (name, lines) in enumerate(strategies.items()):
        colour, mark = ink(name, names), marker(name, names)
        for measure, height, face in ((EM, place - APART, colour), (F1, place + APART, "none")):
            if told := measure.of(lines):
                axes.plot(_interval(told), [height, height], color=colour, linewidth=1.3)
                axes.plot(100 * told.value, height, marker=mark, color=colour, markerfacecolor=face, linestyle="none")
    _rows(axes, [label(name) for name in names])
    axes.set_xlim(left=0)
    axes.set(title=label(dataset), xlabel="percent")


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows of a plot, from the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def pareto(asked: Asked, qualities: Sequence[Measure], costs: Sequence[Measure], name: str) -> Markup:
    """Draw each quality over each cost; points are numbered, a dashed line joins the front, others are grey."""
    panels = [partial(_pareto, asked, quality, cost) for quality in qualities for cost in costs]
    return drawn(name, (3.6, 3.1), panels, across=len(costs))


def _pareto(asked: Asked, quality: Measure, cost: Measure, axes: Axes) -> None:
    names = list(asked)
    told = {name: (cost.of(lines), quality.of(lines)) for name, lines in asked.items()}
    points = {name: (spent.value, one) for name, (spent, one) in told.items() if spent and one}
    front = frontier({name: (spent, one.value) for name, (spent, one) in points.items()})
    axes.plot([points[name][0] for name in front], [100 * points[name][1].value for name in front], color=TEXT, lw=1, ls=DASHED, zorder=1)
    for number, name in enumerate(names, 1):
        axes.plot([], [], marker=marker(name, names), color=ink(name, names), linestyle="none", label=f"{number} {label(name)}")
        if name in points:
            (spent, one), on_front = points[name], name in front
            colour = ink(name, names) if on_front else RULE
            axes.plot([spent] * 2, _interval(one), color=colour, linewidth=1.2)
            axes.plot(spent, 100 * one.value, marker=marker(name, names), color=colour if on_front else FAINT, linestyle="none")
            where: Any = {"xytext": (5, 3), "textcoords": "offset points", "fontsize": 8, "color": TEXT if on_front else FAINT}
            axes.annotate(str(number), (spent, 100 * one.value), **where)
    if points and min(spent for spent, _ in points.values()) > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=6))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=f"{'seconds' if cost is SECONDS else cost.title} a question, mean", ylabel=f"{quality.title}, percent")


def _interval(told: Estimate) -> list[float]:
    """Return the interval of an estimate in percent; the estimate twice if it has none."""
    return [100 * (told.value if end is None else end) for end in (told.low, told.high)]


def sweep(
    curves: Mapping[str, Sequence[tuple[str, Sequence[ResultLine]]]],
    setting: str,
    values: Sequence[str],
    name: str,
    measures: Sequence[Measure] = (EM, F1, CALLS),
) -> Markup:
    """Draw measures along the values of a setting, a line a data set (or whatever the curves are named by)."""
    return drawn(name, (2.9, 2.5), [partial(_swept, curves, setting, values, measure) for measure in measures], across=3)


def _swept(
    curves: Mapping[str, Sequence[tuple[str, Sequence[ResultLine]]]], setting: str, values: Sequence[str], measure: Measure, axes: Axes
) -> None:
    datasets = list(curves)
    factor = 1 if measure is CALLS else 100
    for dataset, curve in curves.items():
        points = [(values.index(value), told) for value, lines in curve if (told := measure.of(lines))]
        places, estimates, colour = [place for place, _ in points], [one for _, one in points], ink(dataset, datasets)
        low, high = [factor * (one.low or 0.0) for one in estimates], [factor * (one.high or 0.0) for one in estimates]
        axes.plot(places, [factor * one.value for one in estimates], marker=marker(dataset, datasets), color=colour, label=label(dataset))
        axes.fill_between(places, low, high, color=colour, alpha=0.13, linewidth=0)
    axes.set_xticks(range(len(values)), [label(value) for value in values])
    axes.set_ylim(bottom=0)
    axes.set(title="model calls a question" if measure is CALLS else f"{measure.title}, percent", xlabel=label(setting))


def gleanings(graphs: Sequence[Mapping[str, Any]], name: str) -> Markup:
    """Draw the references to names over the rounds of gleaning, a line a size of units."""
    return drawn(name, (4.6, 3.0), [partial(_gleanings, graphs)])


def _gleanings(graphs: Sequence[Mapping[str, Any]], axes: Axes) -> None:
    sizes = list(dict.fromkeys(str(graph["build"]["unit_tokens"]) for graph in graphs))
    for size in sizes:
        points = [(graph["build"]["gleanings"], graph["references"]) for graph in graphs if str(graph["build"]["unit_tokens"]) == size]
        axes.plot(*zip(*points, strict=True), marker=marker(size, sizes), color=ink(size, sizes), label=f"{size} tokens")
    axes.set_xticks(sorted({graph["build"]["gleanings"] for graph in graphs}))
    axes.set_ylim(bottom=0)
    axes.set(title="references to names", xlabel="gleanings")


def calibration(asked: Mapping[str, Asked]) -> Markup:
    """Draw reliability and risk against coverage, a row a data set."""
    panels = [partial(panel, dataset, strategies) for dataset, strategies in asked.items() for panel in (_reliable, _risky)]
    return drawn("calibration", (4.3, 2.9), panels)


def _reliable(dataset: str, strategies: Asked, axes: Axes) -> None:
    names = list(strategies)
    axes.plot([0, 1], [0, 1], color=RULE, linewidth=1, linestyle=DASHED)
    for name, lines in strategies.items():
        bins = reliability(*confident(lines))
        sure, right, colour = [one.confidence for one in bins], [one.right for one in bins], ink(name, names)
        axes.plot(sure, right, marker=marker(name, names), markersize=4.5, linewidth=1.1, color=colour, label=label(name))
    axes.set(title=f"{label(dataset)}: reliability", xlabel="confidence", ylabel="share right", xlim=(0, 1.02), ylim=(0, 1.02))


def _risky(dataset: str, strategies: Asked, axes: Axes) -> None:
    for name, lines in strategies.items():
        curve = risk_coverage(*confident(lines))
        given, wrong = [100 * share for share in curve.coverage], [100 * share for share in curve.risk]
        axes.plot(given, wrong, color=ink(name, list(strategies)), linewidth=1.3)
    axes.set(title=f"{label(dataset)}: risk and coverage", xlabel="answered, percent", ylabel="wrong of those, percent")
    axes.set(xlim=(0, 101), ylim=(0, 101))


def promised(found: Calibration) -> Markup:
    """Draw the share of wrong answers, of all questions and of those answered, by the share answered, with both thresholds."""
    halves = {name: of for name, of in (("calibrated on", found.outcomes), ("held out", found.checked)) if len(of)}
    panels = [partial(_promised, found, halves, bound, place) for place, bound in enumerate(found.promises, 1)]
    return drawn("promised", (4.3, 2.9), panels)


def _promised(found: Calibration, halves: Mapping[str, Outcomes], bound: Bound, place: int, axes: Axes) -> None:
    names = list(halves)
    axes.axhline(100 * found.order.risk, color=TEXT, linewidth=1, linestyle=DASHED)
    for name, outcomes in halves.items():
        curve = outcomes.curve()
        given, wrong = [100 * point[0] for point in curve], [100 * point[place] for point in curve]
        axes.plot(given, wrong, color=ink(name, names), linewidth=1.3, label=name)
        if (threshold := found.promises[bound].threshold) is not None and outcomes.given(threshold)[0]:
            above, missed = outcomes.given(threshold)
            total = len(outcomes) if bound == "asked" else above
            axes.plot(100 * above / len(outcomes), 100 * missed / total, marker=marker(name, names), color=ink(name, names))
    axes.set(
        title=f"wrong, of {'all questions' if bound == 'asked' else 'the answers'}", xlabel="answered, percent", ylabel="wrong, percent"
    )
    axes.set_xlim(0, 101)
    axes.set_ylim(bottom=0)


Shares = Mapping[str, Sequence[tuple[float, Sequence[ResultLine]]]]
"""Lines by system and the share of documents that are degraded."""


def along_shares(ways: Mapping[str, Shares], measure: Measure, name: str) -> Markup:
    """Draw a measure along the share of missing metadata, and along that of wrong ones, a line a system."""
    return drawn(name, (4.6, 3.2), [partial(_along_shares, way, systems, measure) for way, systems in ways.items()])


def _along_shares(way: str, systems: Shares, measure: Measure, axes: Axes) -> None:
    names = list(systems)
    for place, (system, points) in enumerate(systems.items()):
        found = [(100 * share, 100 * one.value) for share, lines in points if (one := measure.of(lines))]
        axes.plot(
            [share for share, _ in found], [value for _, value in found], color=ink(system, names), marker=marker(system, names),
            markersize=4.5, linestyle="solid" if place < len(INKS) else "dashed", label=label(system),
        )  # fmt: skip
    axes.set_xticks(sorted({100 * share for points in systems.values() for share, _ in points}))
    axes.set(title=f"{measure.title}, percent", xlabel=f"documents whose metadata are {'missing' if way == MISSING else 'wrong'}, percent")


def ablations(lines: Asked, measures: Sequence[Measure], name: str) -> Markup:
    """Draw some measures of the ablations that were run."""
    return drawn(name, (4.6, 3.0), [partial(_bars, lines, measure) for measure in measures])


def _bars(lines: Asked, measure: Measure, axes: Axes) -> None:
    found = {name: one for name, of in lines.items() if (one := measure.of(of))}
    values = [100 * one.value for one in found.values()]
    ends = zip(*map(_interval, found.values()), strict=True)
    spread = [[abs(end - value) for end, value in zip(side, values, strict=True)] for side in ends]
    axes.barh(range(len(found)), values, color=INKS[0], height=0.62, xerr=spread or None, ecolor=TEXT, error_kw={"elinewidth": 1})
    _rows(axes, list(found))
    axes.set_xlabel(f"{measure.title}, percent")
