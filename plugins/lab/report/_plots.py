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

from ramify.lab._degraded import MISSING
from ramify.lab.metrics import pareto_front, reliability_bins, risk_coverage
from ramify.lab.results import ResultLine
from ramify.lab.results.calibration import Calibration
from ramify.lab.results.measures import EM, F1, MODEL_CALLS, WALL_SECONDS, Estimate, Measure, confidences_and_outcomes
from ramify.lab.risk_control import Bound, Outcomes
from ramify.tools.quoting import one_line

TEXT_COLOUR, RULE_COLOUR, FAINT_COLOUR = "#f0e0a1", "#f0e0a2", "#f0e0a3"
LINE_COLOURS = tuple(f"#f0e0b{number}" for number in range(1, 8))
"""Placeholder colours, replaced by CSS variables of the page."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MAX_LABEL_CHARS = 28
"""Maximum length of a label."""
_COLOURED = ("naive", "chain", "iterative", "tor", "prune", "closed-book", "ircot", "self-ask", "react", "mcts")
STRATEGY_COLOURS = {name: place for place, name in enumerate(_COLOURED)}
"""Index of the colour and marker of each strategy, the same in every report."""
MATPLOTLIB_STYLE: Any = {
    **{"svg.fonttype": "none", "svg.hashsalt": "ramify", "text.parse_math": False, "font.family": "DejaVu Sans", "font.size": 9.5},
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.labelcolor", "ytick.labelcolor"), TEXT_COLOUR),
    **dict.fromkeys(("axes.edgecolor", "grid.color", "xtick.color", "ytick.color"), RULE_COLOUR),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
    **{"axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left"},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.grid": True, "grid.linewidth": 0.6},
    **{"legend.frameon": False, "lines.linewidth": 1.6, "lines.markersize": 6},
}


def render_svg(name: str, size: tuple[float, float], panels: Sequence[Callable[[Axes], None]], across: int = 2) -> Markup:
    """Return an SVG of panels in a grid with one legend; `name` prefixes its ids."""
    down, across = -(-len(panels) // across), min(across, len(panels))
    with mpl.rc_context(MATPLOTLIB_STYLE):
        figure = Figure(figsize=(size[0] * across, size[1] * down + 0.35), layout="constrained")
        grid: list[Axes] = list(figure.subplots(down, across, squeeze=False).flat)
        for axes, panel in zip(grid, panels, strict=False):
            panel(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        handles = {label: handle for axes in grid for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        if handles:
            wide = (2 + 0.55 * max(map(len, handles))) * MATPLOTLIB_STYLE["font.size"] / 72  # inches of an entry
            columns = max(1, min(6, len(handles), int(figure.get_size_inches()[0] / wide)))
            placed: Any = {"loc": "outside upper left", "ncols": columns, "handletextpad": 0.4, "columnspacing": 1.4}
            figure.legend([*handles.values()], [*handles], **placed)
        with io.StringIO() as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the page has its own font
            figure.savefig(file, format="svg", metadata={"Date": None})
            return _embeddable_svg(file.getvalue(), name)


def line_colour(name: str, names: Sequence[str]) -> str:
    """Return the colour of a line among others."""
    return LINE_COLOURS[_style_index(name, names) % len(LINE_COLOURS)]


def line_marker(name: str, names: Sequence[str]) -> str:
    """Return the marker of a line among others, so that lines do not differ only in colour."""
    return MARKERS[_style_index(name, names) % len(MARKERS)]


def short_label(name: str) -> str:
    """Return a name truncated to MAX_LABEL_CHARS."""
    text = one_line(name)
    return text if len(text) <= MAX_LABEL_CHARS else text[: MAX_LABEL_CHARS - 1] + "…"


def _style_index(name: str, names: Sequence[str]) -> int:
    return STRATEGY_COLOURS.get(name, list(names).index(name))


def _embeddable_svg(svg: str, name: str) -> Markup:
    """Return the svg element, with the page's colours and prefixed ids."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg[^>]*?) width="([\d.]+)pt" height="[\d.]+pt"', r'\1 style="--width: \2"', svg, count=1)
    inks = {
        TEXT_COLOUR: "var(--ink)",
        RULE_COLOUR: "var(--rule)",
        FAINT_COLOUR: "var(--faint)",
        **{placeholder: f"var(--ink-{place})" for place, placeholder in enumerate(LINE_COLOURS, 1)},
    }
    for placeholder, variable in inks.items():
        svg = svg.replace(placeholder, variable)
    return Markup(svg.strip())


StrategyLines = Mapping[str, Sequence[ResultLine]]
"""Lines by strategy."""
MARKER_OFFSET = 0.13
"""Vertical distance of the EM and F1 markers from the row of a strategy."""
DASH_PATTERN = (0, (4, 3))


def plot_answers(lines_by_strategy: Mapping[str, StrategyLines]) -> Markup:
    """Draw EM and F1 of every strategy with their intervals, one panel per data set."""
    size = (
        3.2 + 0.06 * max(len(short_label(name)) for names in lines_by_strategy.values() for name in names),
        0.34 * max(map(len, lines_by_strategy.values())) + 0.9,
    )
    return render_svg("answers", size, [partial(_draw_answers, dataset, strategies) for dataset, strategies in lines_by_strategy.items()])


def _draw_answers(dataset: str, strategies: StrategyLines, axes: Axes) -> None:
    names = list(strategies)
    for place, (name, lines) in enumerate(strategies.items()):
        colour, mark = line_colour(name, names), line_marker(name, names)
        for measure, height, face in ((EM, place - MARKER_OFFSET, colour), (F1, place + MARKER_OFFSET, "none")):
            if estimate := measure.of(lines):
                axes.plot(_percent_interval(estimate), [height, height], color=colour, linewidth=1.3)
                axes.plot(100 * estimate.value, height, marker=mark, color=colour, markerfacecolor=face, linestyle="none")
    _label_rows(axes, [short_label(name) for name in names])
    axes.set_xlim(left=0)
    axes.set(title=short_label(dataset), xlabel="percent")


def _label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows of a plot from top to bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def plot_pareto(lines_by_strategy: StrategyLines, qualities: Sequence[Measure], costs: Sequence[Measure], name: str) -> Markup:
    """Draw each quality over each cost; points are numbered, a dashed line joins the Pareto front, others are grey."""
    panels = [partial(_draw_pareto, lines_by_strategy, quality, cost) for quality in qualities for cost in costs]
    return render_svg(name, (3.6, 3.1), panels, across=len(costs))


def _draw_pareto(lines_by_strategy: StrategyLines, quality: Measure, cost: Measure, axes: Axes) -> None:
    names = list(lines_by_strategy)
    estimates = {name: (cost.of(lines), quality.of(lines)) for name, lines in lines_by_strategy.items()}
    points = {name: (spent.value, achieved) for name, (spent, achieved) in estimates.items() if spent and achieved}
    front = pareto_front({name: (spent, achieved.value) for name, (spent, achieved) in points.items()})
    axes.plot(
        [points[name][0] for name in front],
        [100 * points[name][1].value for name in front],
        color=TEXT_COLOUR,
        lw=1,
        ls=DASH_PATTERN,
        zorder=1,
    )
    for number, name in enumerate(names, 1):
        axes.plot(
            [], [], marker=line_marker(name, names), color=line_colour(name, names), linestyle="none", label=f"{number} {short_label(name)}"
        )
        if name in points:
            (spent, estimate), on_front = points[name], name in front
            colour = line_colour(name, names) if on_front else RULE_COLOUR
            axes.plot([spent] * 2, _percent_interval(estimate), color=colour, linewidth=1.2)
            axes.plot(
                spent, 100 * estimate.value, marker=line_marker(name, names), color=colour if on_front else FAINT_COLOUR, linestyle="none"
            )
            where: Any = {
                "xytext": (5, 3),
                "textcoords": "offset points",
                "fontsize": 8,
                "color": TEXT_COLOUR if on_front else FAINT_COLOUR,
            }
            axes.annotate(str(number), (spent, 100 * estimate.value), **where)
    if points and min(spent for spent, _ in points.values()) > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=6))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel=f"{'seconds' if cost is WALL_SECONDS else cost.title} a question, mean", ylabel=f"{quality.title}, percent")


def _percent_interval(estimate: Estimate) -> list[float]:
    """Return the interval of an estimate in percent; the estimate twice if it has none."""
    return [100 * (estimate.value if end is None else end) for end in (estimate.low, estimate.high)]


def plot_sweep(
    curves: Mapping[str, Sequence[tuple[str, Sequence[ResultLine]]]],
    setting: str,
    values: Sequence[str],
    name: str,
    measures: Sequence[Measure] = (EM, F1, MODEL_CALLS),
) -> Markup:
    """Draw measures over the values of a setting, one line per curve (data set or strategy)."""
    return render_svg(name, (2.9, 2.5), [partial(_draw_sweep, curves, setting, values, measure) for measure in measures], across=3)


def _draw_sweep(
    curves: Mapping[str, Sequence[tuple[str, Sequence[ResultLine]]]], setting: str, values: Sequence[str], measure: Measure, axes: Axes
) -> None:
    datasets = list(curves)
    factor = 1 if measure is MODEL_CALLS else 100
    for dataset, curve in curves.items():
        points = [(values.index(value), estimate) for value, lines in curve if (estimate := measure.of(lines))]
        places, estimates, colour = [place for place, _ in points], [mean for _, mean in points], line_colour(dataset, datasets)
        low, high = [factor * (mean.low or 0.0) for mean in estimates], [factor * (mean.high or 0.0) for mean in estimates]
        axes.plot(
            places,
            [factor * mean.value for mean in estimates],
            marker=line_marker(dataset, datasets),
            color=colour,
            label=short_label(dataset),
        )
        axes.fill_between(places, low, high, color=colour, alpha=0.13, linewidth=0)
    axes.set_xticks(range(len(values)), [short_label(value) for value in values])
    axes.set_ylim(bottom=0)
    axes.set(title="model calls a question" if measure is MODEL_CALLS else f"{measure.title}, percent", xlabel=short_label(setting))


def plot_gleanings(graphs: Sequence[Mapping[str, Any]], name: str) -> Markup:
    """Draw the references to names over the rounds of gleaning, one line per unit size."""
    return render_svg(name, (4.6, 3.0), [partial(_draw_gleanings, graphs)])


def _draw_gleanings(graphs: Sequence[Mapping[str, Any]], axes: Axes) -> None:
    sizes = list(dict.fromkeys(str(graph["build"]["unit_tokens"]) for graph in graphs))
    for size in sizes:
        points = [(graph["build"]["gleanings"], graph["references"]) for graph in graphs if str(graph["build"]["unit_tokens"]) == size]
        axes.plot(*zip(*points, strict=True), marker=line_marker(size, sizes), color=line_colour(size, sizes), label=f"{size} tokens")
    axes.set_xticks(sorted({graph["build"]["gleanings"] for graph in graphs}))
    axes.set_ylim(bottom=0)
    axes.set(title="references to names", xlabel="gleanings")


def plot_calibration(lines_by_strategy: Mapping[str, StrategyLines]) -> Markup:
    """Draw reliability and risk against coverage, one row per data set."""
    panels = [
        partial(panel, dataset, strategies)
        for dataset, strategies in lines_by_strategy.items()
        for panel in (_draw_reliability, _draw_risk)
    ]
    return render_svg("calibration", (4.3, 2.9), panels)


def _draw_reliability(dataset: str, strategies: StrategyLines, axes: Axes) -> None:
    names = list(strategies)
    axes.plot([0, 1], [0, 1], color=RULE_COLOUR, linewidth=1, linestyle=DASH_PATTERN)
    for name, lines in strategies.items():
        bins = reliability_bins(*confidences_and_outcomes(lines))
        confidences, right, colour = (
            [interval.confidence for interval in bins],
            [interval.right for interval in bins],
            line_colour(name, names),
        )
        axes.plot(confidences, right, marker=line_marker(name, names), markersize=4.5, linewidth=1.1, color=colour, label=short_label(name))
    axes.set(title=f"{short_label(dataset)}: reliability", xlabel="confidence", ylabel="share right", xlim=(0, 1.02), ylim=(0, 1.02))


def _draw_risk(dataset: str, strategies: StrategyLines, axes: Axes) -> None:
    for name, lines in strategies.items():
        curve = risk_coverage(*confidences_and_outcomes(lines))
        answered, wrong = [100 * share for share in curve.coverage], [100 * share for share in curve.risk]
        axes.plot(answered, wrong, color=line_colour(name, list(strategies)), linewidth=1.3)
    axes.set(title=f"{short_label(dataset)}: risk and coverage", xlabel="answered, percent", ylabel="wrong of those, percent")
    axes.set(xlim=(0, 101), ylim=(0, 101))


def plot_bounds(calibration: Calibration) -> Markup:
    """Draw the share of wrong answers, of all questions and of the answered ones, over the coverage, with both thresholds."""
    halves = {name: of for name, of in (("calibrated on", calibration.outcomes), ("held out", calibration.held_out_outcomes)) if len(of)}
    panels = [partial(_draw_bound, calibration, halves, bound, place) for place, bound in enumerate(calibration.bound_results, 1)]
    return render_svg("promised", (4.3, 2.9), panels)


def _draw_bound(calibration: Calibration, halves: Mapping[str, Outcomes], bound: Bound, place: int, axes: Axes) -> None:
    names = list(halves)
    axes.axhline(100 * calibration.options.risk, color=TEXT_COLOUR, linewidth=1, linestyle=DASH_PATTERN)
    for name, outcomes in halves.items():
        curve = outcomes.curve()
        answered, wrong = [100 * point[0] for point in curve], [100 * point[place] for point in curve]
        axes.plot(answered, wrong, color=line_colour(name, names), linewidth=1.3, label=name)
        if (threshold := calibration.bound_results[bound].threshold) is not None and outcomes.count_above(threshold)[0]:
            above, missed = outcomes.count_above(threshold)
            total = len(outcomes) if bound == "asked" else above
            axes.plot(100 * above / len(outcomes), 100 * missed / total, marker=line_marker(name, names), color=line_colour(name, names))
    axes.set(
        title=f"wrong, of {'all questions' if bound == 'asked' else 'the answers'}", xlabel="answered, percent", ylabel="wrong, percent"
    )
    axes.set_xlim(0, 101)
    axes.set_ylim(bottom=0)


SystemCurves = Mapping[str, Sequence[tuple[float, Sequence[ResultLine]]]]
"""Pairs of degraded share and lines by system."""


def plot_shares(ways: Mapping[str, SystemCurves], measure: Measure, name: str) -> Markup:
    """Draw a measure over the share of missing metadata, and over that of wrong metadata, one line per system."""
    return render_svg(name, (4.6, 3.2), [partial(_draw_shares, way, systems, measure) for way, systems in ways.items()])


def _draw_shares(way: str, systems: SystemCurves, measure: Measure, axes: Axes) -> None:
    names = list(systems)
    for place, (system, points) in enumerate(systems.items()):
        points_in_percent = [(100 * share, 100 * estimate.value) for share, lines in points if (estimate := measure.of(lines))]
        axes.plot(
            [share for share, _ in points_in_percent], [value for _, value in points_in_percent],
            color=line_colour(system, names), marker=line_marker(system, names),
            markersize=4.5, linestyle="solid" if place < len(LINE_COLOURS) else "dashed", label=short_label(system),
        )  # fmt: skip
    axes.set_xticks(sorted({100 * share for points in systems.values() for share, _ in points}))
    axes.set(title=f"{measure.title}, percent", xlabel=f"documents whose metadata are {'missing' if way == MISSING else 'wrong'}, percent")


def plot_ablations(lines: StrategyLines, measures: Sequence[Measure], name: str) -> Markup:
    """Draw bars of some measures for the ablations that were run."""
    return render_svg(name, (4.6, 3.0), [partial(_draw_ablations, lines, measure) for measure in measures])


def _draw_ablations(lines: StrategyLines, measure: Measure, axes: Axes) -> None:
    estimates = {name: estimate for name, of in lines.items() if (estimate := measure.of(of))}
    values = [100 * mean.value for mean in estimates.values()]
    ends = zip(*map(_percent_interval, estimates.values()), strict=True)
    spread = [[abs(end - value) for end, value in zip(side, values, strict=True)] for side in ends]
    axes.barh(
        range(len(estimates)),
        values,
        color=LINE_COLOURS[0],
        height=0.62,
        xerr=spread or None,
        ecolor=TEXT_COLOUR,
        error_kw={"elinewidth": 1},
    )
    _label_rows(axes, list(estimates))
    axes.set_xlabel(f"{measure.title}, percent")
