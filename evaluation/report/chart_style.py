"""How plots look: drawn once, in inks that the page sets for light and for dark, the same bytes for the same run."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    "svg.fonttype": "none",
    "svg.hashsalt": "ramify",
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.titlecolor": TEXT,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": RULE,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "lines.linewidth": 1.6,
    "lines.markersize": 6,
}


class Sheet:
    """A figure of panels, with one legend for all of them."""

    def __init__(self, panels: int, across: int, size: tuple[float, float]) -> None:
        down = -(-panels // across)
        self.figure = Figure(figsize=(size[0] * min(across, panels), size[1] * down + 0.35), layout="constrained")
        grid = self.figure.subplots(down, min(across, panels), squeeze=False)
        self.axes: list[Axes] = list(grid.flat)
        for axes in self.axes[panels:]:
            axes.set_visible(False)

    def legend(self, axes: Sequence[Axes]) -> None:
        """Name each line once, above the panels."""
        found = {label: handle for one in axes for handle, label in zip(*one.get_legend_handles_labels(), strict=True)}
        if found:
            self.figure.legend(
                list(found.values()), list(found), loc="outside upper left", ncols=min(6, len(found)), handletextpad=0.4, columnspacing=1.4
            )

    def svg(self, name: str) -> Markup:
        """Give the drawing as an element of a page; `name` keeps its ids apart from other drawings'."""
        with io.StringIO() as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the page's own font writes the text
            self.figure.savefig(file, format="svg", metadata={"Date": None})
            return _placed(file.getvalue(), name)


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the report's style."""
    with mpl.rc_context(STYLE):
        yield


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
