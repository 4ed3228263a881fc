"""The graph of an index as a picture: its most connected names, laid out by ForceAtlas2 (GraphRAG §5)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from ramify.studio.inspection.contents import Inside
from ramify.tools.knowledge.elements import Pair
from ramify.tools.quoting import brief

NAMES, LABELS, LINES = 300, 40, 1500
"""At most so many names are drawn, written out, and connected: the most connected ones, the connections told of most often."""
COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#59a14f", "#b07aa1", "#d4a72c"),
    *("#3aa6a1", "#e377a2", "#9c755f", "#7b6fd0", "#7fa82e", "#5aa9e6"),
)
"""Of the communities with the most names in the drawing; they are seen on light and on dark ground."""
OTHER = "#98a2b3"
WIDTH, HEIGHT, MARGIN = 1000.0, 760.0, 30.0
_ROUNDS, _APART, _SEED = 300, 80, 7
_SMALLEST, _LARGEST, _GAP, _WIDE = 2.5, 19.0, 3.5, 0.6
_LABEL = 26
"""Characters of a name that is written out."""
Box = tuple[float, float, float, float]


class Dot(NamedTuple):
    """A name in the drawing."""

    name: str
    degree: int
    community: str
    """Of level 0."""
    colour: str
    x: float
    y: float
    radius: float


class Line(NamedTuple):
    """A connection in the drawing."""

    one: Dot
    other: Dot
    times: int


class Label(NamedTuple):
    """A name that is written out, at the middle of its base line."""

    text: str
    x: float
    y: float
    size: float


class Picture(NamedTuple):
    """A drawing: the dots, the largest first; the colours by community; the connections among the dots that are not drawn."""

    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    colours: Mapping[str, str]
    undrawn: int


def picture(inside: Inside) -> Picture:
    """Lay the graph out; the same graph gives the same drawing."""
    home = {key: id for id in inside.root for key in inside.partition[id].members}
    keys = sorted(home, key=lambda key: (-inside.graph.names[key].degree, key))[:NAMES]
    edges = _strongest(inside, frozenset(keys))
    drawn = {key for pair in edges[:LINES] for key in pair}
    keys = [key for key in keys if key in drawn]
    shown = Counter(home[key] for key in keys)
    largest = sorted(shown, key=lambda id: (-shown[id], -inside.size(id)))[: len(COLOURS)]
    colours = dict(zip(largest, COLOURS, strict=False))
    radii = {key: _radius(inside.graph.names[key].degree, inside.graph.names[keys[0]].degree) for key in keys}
    places = _apart(_fitted(_laid_out(keys, edges[:LINES])), radii)
    dots = {
        key: Dot(inside.graph.names[key].name, inside.graph.names[key].degree, id, colours.get(id, OTHER), *places[key], radii[key])
        for key in keys
        for id in [home[key]]
    }
    lines = tuple(Line(dots[one], dots[other], inside.graph.edges[one, other].times) for one, other in edges[:LINES])
    return Picture(tuple(dots.values()), lines, _labels(list(dots.values())), colours, max(0, len(edges) - LINES))


def _strongest(inside: Inside, keys: frozenset[str]) -> list[Pair]:
    """List the connections among some names, those told of most often first."""
    among = [pair for pair in inside.graph.edges if keys.issuperset(pair)]
    return sorted(among, key=lambda pair: (-inside.graph.edges[pair].times, pair))


def _radius(degree: int, most: int) -> float:
    """Give a dot an area in proportion to its degree."""
    return max(_SMALLEST, _LARGEST * math.sqrt(degree / most))


def _laid_out(keys: Sequence[str], edges: Sequence[Pair]) -> dict[str, tuple[float, float]]:
    import networkx
    import numpy

    graph: networkx.Graph[str] = networkx.Graph()
    graph.add_nodes_from(keys)
    graph.add_edges_from(edges)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        found = networkx.forceatlas2_layout(graph, max_iter=_ROUNDS, scaling_ratio=2.0, gravity=1.0, seed=_SEED)
    return {key: (float(x), float(y)) for key, (x, y) in found.items()}


def _fitted(places: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Fit a layout into the drawing."""
    left, right = min(x for x, _ in places.values()), max(x for x, _ in places.values())
    top, bottom = min(y for _, y in places.values()), max(y for _, y in places.values())
    across, down = (WIDTH - 4 * MARGIN) / max(right - left, 1e-9), (HEIGHT - 3 * MARGIN) / max(bottom - top, 1e-9)
    return {key: (2 * MARGIN + (x - left) * across, MARGIN + (y - top) * down) for key, (x, y) in places.items()}


def _apart(places: Mapping[str, tuple[float, float]], radii: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Move dots that cover each other apart."""
    import numpy

    spots = numpy.array([places[key] for key in radii])
    reach = numpy.array(list(radii.values()))
    wanted = reach[:, None] + reach[None, :] + _GAP
    for _ in range(_APART):
        between = spots[:, None] - spots[None, :]
        distance = numpy.hypot(between[..., 0], between[..., 1])
        numpy.fill_diagonal(distance, numpy.inf)
        push = numpy.maximum(wanted - distance, 0) / numpy.maximum(distance, 1e-6) / 2
        spots += numpy.clip((push[..., None] * between).sum(axis=1), -_GAP, _GAP)
        spots = numpy.clip(spots, (2 * MARGIN, MARGIN), (WIDTH - 2 * MARGIN, HEIGHT - MARGIN))
    return {key: (round(float(x), 1), round(float(y), 1)) for key, (x, y) in zip(radii, spots, strict=True)}


def _labels(dots: Sequence[Dot]) -> tuple[Label, ...]:
    """Write the most connected names where there is room: never one over another, and over as few dots as can be."""
    placed: list[Label] = []
    taken: list[Box] = []
    for dot in dots:
        if len(placed) == LABELS:
            break
        free = [(label, box) for label in _candidates(dot) if _inside(box := _box(label)) and not any(_overlap(box, one) for one in taken)]
        if free:
            label, box = min(free, key=lambda one: sum(_overlap(one[1], _bounds(other)) for other in dots if other is not dot))
            placed.append(label)
            taken.append(box)
    return tuple(placed)


def _candidates(dot: Dot) -> list[Label]:
    size = 11 + dot.radius / 4
    text = brief(dot.name, _LABEL)
    middle, aside = dot.y + size * 0.35, dot.radius + 3 + _length(text, size) / 2
    return [
        Label(text, dot.x, dot.y - dot.radius - 3, size),
        Label(text, dot.x, dot.y + dot.radius + size * 0.9, size),
        Label(text, dot.x + aside, middle, size),
        Label(text, dot.x - aside, middle, size),
        Label(text, dot.x, middle, size),
    ]


def _length(text: str, size: float) -> float:
    return cell_len(text) * size * _WIDE


def _box(label: Label) -> Box:
    half = _length(label.text, label.size) / 2 + 1
    return label.x - half, label.y - label.size * 0.85, label.x + half, label.y + label.size * 0.25


def _bounds(dot: Dot) -> Box:
    return dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius


def _inside(box: Box) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= WIDTH and box[3] <= HEIGHT


def _overlap(one: Box, other: Box) -> float:
    across, down = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    return across * down if across > 0 and down > 0 else 0.0
