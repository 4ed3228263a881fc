"""Layout of the graph of an index: its most connected names, by ForceAtlas2 (GraphRAG §5)."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len

from ramify.tools.knowledge.elements import Pair
from ramify.tools.knowledge.index import Inside
from ramify.tools.quoting import truncate_line

WIDTH, HEIGHT, MARGIN = 1000.0, 760.0, 30.0
NAMES, LABELS, LINES = 300, 40, 1500
"""At most so many names are drawn, written out, and connected: the most connected ones, the connections told of most often."""
COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#59a14f", "#b07aa1", "#d4a72c"),
    *("#3aa6a1", "#e377a2", "#9c755f", "#7b6fd0", "#7fa82e", "#5aa9e6"),
)
"""Of the communities with the most names in the drawing; they are seen on light and on dark ground."""
OTHER = "#98a2b3"
_SMALLEST, _LARGEST, _WIDE = 2.5, 19.0, 0.6
_LABEL = 26
"""Characters of a name that is written out."""
_BEND = 0.12
"""Of its length, a connection is bent aside."""
_ROUNDS, _APART, _SEED, _GAP = 300, 80, 7, 3.5
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
    """A connection in the drawing: an SVG path, bent a little aside, so that those of one name come apart."""

    bent: str
    colour: str
    width: float


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
    view: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def picture(inside: Inside) -> Picture:
    """Return the layout of a graph; deterministic."""
    names = inside.graph.names
    home = {key: id for id in inside.root for key in inside.partition[id].members}
    keys = sorted(home, key=lambda key: (-names[key].degree, key))[:NAMES]
    among = [pair for pair in inside.graph.edges if set(keys).issuperset(pair)]
    edges = sorted(among, key=lambda pair: (-inside.graph.edges[pair].times, pair))
    drawn = {key for pair in edges[:LINES] for key in pair}
    keys = [key for key in keys if key in drawn]
    shown = Counter(home[key] for key in keys)
    largest = sorted(shown, key=lambda id: (-shown[id], -inside.size(id)))[: len(COLOURS)]
    colours = dict(zip(largest, COLOURS, strict=False))
    # A dot has an area in proportion to its degree.
    radii = {key: max(_SMALLEST, _LARGEST * math.sqrt(names[key].degree / names[keys[0]].degree)) for key in keys}
    places = _laid_out(radii, edges[:LINES])
    dots = {
        key: Dot(names[key].name, names[key].degree, home[key], colours.get(home[key], OTHER), *places[key], radii[key]) for key in keys
    }
    times = {pair: inside.graph.edges[pair].times for pair in edges[:LINES]}
    lines = tuple(_line(dots[one], dots[other], times[one, other]) for one, other in sorted(times, key=lambda pair: times[pair]))
    return Picture(tuple(dots.values()), lines, _labels(list(dots.values())), colours, max(0, len(edges) - LINES))


def _laid_out(radii: Mapping[str, float], edges: Sequence[Pair]) -> dict[str, tuple[float, float]]:
    """Return positions of names with the given radii: connected ones close together, none overlapping."""
    import networkx

    graph: networkx.Graph[str] = networkx.Graph()
    graph.add_nodes_from(radii)
    graph.add_edges_from(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = networkx.forceatlas2_layout(graph, max_iter=_ROUNDS, scaling_ratio=2.0, gravity=1.0, seed=_SEED)
    spots = np.array([found[key] for key in radii], dtype=np.float64)
    low, high = spots.min(axis=0), spots.max(axis=0)
    first, last = np.array((2 * MARGIN, MARGIN)), np.array((WIDTH - 2 * MARGIN, HEIGHT - MARGIN))
    spots = first + (spots - low) * (np.array((WIDTH - 4 * MARGIN, HEIGHT - 3 * MARGIN)) / np.maximum(high - low, 1e-9))
    reach = np.array(list(radii.values()))
    wanted = reach[:, None] + reach[None, :] + _GAP
    for _ in range(_APART):  # dots that cover each other move apart
        between = spots[:, None] - spots[None, :]
        distance = np.hypot(between[..., 0], between[..., 1])
        np.fill_diagonal(distance, np.inf)
        push = np.maximum(wanted - distance, 0) / np.maximum(distance, 1e-6) / 2
        spots += np.clip((push[..., None] * between).sum(axis=1), -_GAP, _GAP)
        spots = np.clip(spots, first, last)
    return {key: (round(float(x), 1), round(float(y), 1)) for key, (x, y) in zip(radii, spots, strict=True)}


def _line(one: Dot, other: Dot, times: int) -> Line:
    x, y = (one.x + other.x) / 2 + (other.y - one.y) * _BEND, (one.y + other.y) / 2 - (other.x - one.x) * _BEND
    bent = f"M{one.x:.0f} {one.y:.0f}Q{x:.0f} {y:.0f} {other.x:.0f} {other.y:.0f}"
    return Line(bent, one.colour if one.community == other.community else OTHER, 0.6 + 0.5 * math.log2(times))


def _labels(dots: Sequence[Dot]) -> tuple[Label, ...]:
    """Return labels of the most connected names without overlaps, covering as few dots as possible."""
    placed: list[Label] = []
    taken: list[Box] = []
    covering = {dot: (dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius) for dot in dots}
    for dot in dots:
        if len(placed) == LABELS:
            break
        free = []
        for label, (left, top, right, bottom) in _candidates(dot):
            within = left >= 0 and top >= 0 and right <= WIDTH and bottom <= HEIGHT
            if within and not any(_overlap((left, top, right, bottom), one) for one in taken):
                free.append((label, (left, top, right, bottom)))
        if free:
            label, box = min(free, key=lambda one: sum(_overlap(one[1], covering[other]) for other in dots if other is not dot))
            placed.append(label)
            taken.append(box)
    return tuple(placed)


def _candidates(dot: Dot) -> Iterator[tuple[Label, Box]]:
    """Yield the possible positions of a dot's label with their bounding boxes."""
    size = 11 + dot.radius / 4
    text = truncate_line(dot.name, _LABEL)
    length = cell_len(text) * size * _WIDE
    middle, aside, half = dot.y + size * 0.35, dot.radius + 3 + length / 2, length / 2 + 1
    above, below = dot.y - dot.radius - 3, dot.y + dot.radius + size * 0.9
    for x, y in ((dot.x, above), (dot.x, below), (dot.x + aside, middle), (dot.x - aside, middle), (dot.x, middle)):
        yield Label(text, x, y, size), (x - half, y - size * 0.85, x + half, y + size * 0.25)


def _overlap(one: Box, other: Box) -> float:
    across, down = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    return across * down if across > 0 and down > 0 else 0.0
