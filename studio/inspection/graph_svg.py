"""The picture of a graph as SVG: connections, above them the dots, above all the labels."""

import math
from collections.abc import Callable

from ramify.studio.inspection.graph_layout import OTHER, Dot, Line, Picture
from ramify.tools.markup import element, safe

_BEND = 0.12
"""Of its length, a connection is bent aside."""


def drawing(shown: Picture, link: Callable[[str], str] | None = None) -> str:
    """Draw it; each dot leads to where `link` says for its community."""
    lines = "".join(map(_line, sorted(shown.lines, key=lambda line: line.times)))
    dots = "".join(_dot(dot, link) for dot in shown.dots)
    labels = "".join(
        element("text", safe(label.text), x=f"{label.x:.1f}", y=f"{label.y:.1f}", font_size=f"{label.size:.1f}") for label in shown.labels
    )
    return (
        element("g", lines, class_="lines", fill="none", stroke_opacity=".42")
        + element("g", dots, class_="dots")
        + element("g", labels, class_="labels", text_anchor="middle", pointer_events="none", aria_hidden="true")
    )


def _line(line: Line) -> str:
    """Bend a connection a little, so that those of one name come apart."""
    (x1, y1), (x2, y2) = (line.one.x, line.one.y), (line.other.x, line.other.y)
    bent = f"Q{(x1 + x2) / 2 + (y2 - y1) * _BEND:.0f} {(y1 + y2) / 2 - (x2 - x1) * _BEND:.0f}"
    colour = line.one.colour if line.one.community == line.other.community else OTHER
    width = f"{0.6 + 0.5 * math.log2(line.times):.1f}"
    return element("path", d=f"M{x1:.0f} {y1:.0f}{bent} {x2:.0f} {y2:.0f}", stroke=colour, stroke_width=width)


def _dot(dot: Dot, link: Callable[[str], str] | None) -> str:
    told = element("title", safe(f"{dot.name} · connected with {dot.degree:,}"))
    circle = element("circle", told, cx=f"{dot.x:g}", cy=f"{dot.y:g}", r=f"{dot.radius:.1f}", fill=dot.colour)
    return element("a", circle, href=link(dot.community)) if link else circle
