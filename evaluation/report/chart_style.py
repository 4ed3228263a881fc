"""How plots look: drawn once, in inks that the page sets for light and for dark, the same bytes for the same run."""

import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ramify.tools.quoting import one_line

TEXT, RULE = "#f0e0a1", "#f0e0a2"
INKS = tuple(f"#f0e0b{number}" for number in range(1, 8))
"""Placeholders, replaced by the page's variables in the finished drawing."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LABEL = 28
"""Characters of a name."""
PLACES = {"naive": 0, "chain": 1, "iterative": 2, "tor": 3, "prune": 4, "closed-book": 5}
"""A known strategy looks the same in every report."""
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
    """Draw panels of a size, some beside each other, with one legend for all; `name` keeps their ids apart from other drawings'."""
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
            placed: Any = {"loc": "outside upper left", "ncols": min(6, len(told)), "handletextpad": 0.4, "columnspacing": 1.4}
            figure.legend([*told.values()], [*told], **placed)
        with io.StringIO() as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the page's own font writes the text
            figure.savefig(file, format="svg", metadata={"Date": None})
            return _placed(file.getvalue(), name)


def ink(name: str, names: Sequence[str]) -> str:
    """Give the ink of a line among others."""
    return INKS[_place(name, names) % len(INKS)]


def marker(name: str, names: Sequence[str]) -> str:
    """Give the marker of a line among others, so that none is told by its colour alone."""
    return MARKERS[_place(name, names) % len(MARKERS)]


def label(name: str) -> str:
    """Put a name so that it fits beside a plot."""
    told = one_line(name)
    return told if len(told) <= LABEL else told[: LABEL - 1] + "…"


def _place(name: str, names: Sequence[str]) -> int:
    return PLACES.get(name, list(names).index(name))


def _placed(svg: str, name: str) -> Markup:
    """Cut the drawing out of its file, with the page's inks, and ids of its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'(<svg[^>]*?) width="([\d.]+)pt" height="[\d.]+pt"', r'\1 style="--width: \2"', svg, count=1)
    inks = {TEXT: "var(--ink)", RULE: "var(--rule)", **{placeholder: f"var(--ink-{place})" for place, placeholder in enumerate(INKS, 1)}}
    for placeholder, variable in inks.items():
        svg = svg.replace(placeholder, variable)
    return Markup(svg.strip())
