"""Layout of the graph of an index: its most connected names, by ForceAtlas2 (GraphRAG §5)."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len

from ramify.kinds.knowledge.elements import Pair
from ramify.kinds.knowledge.index import GraphView
from ramify.tools.quoting import truncate_line

WIDTH, HEIGHT, MARGIN = 1000.0, 760.0, 30.0
MAX_NAMES, MAX_LABELS, MAX_EDGES = 300, 40, 1500
"""Maximum numbers of names drawn, names labelled, and connections drawn: the most connected names, the most frequent connections."""
COMMUNITY_COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#59a14f", "#b07aa1", "#d4a72c"),
    *("#3aa6a1", "#e377a2", "#9c755f", "#7b6fd0", "#7fa82e", "#5aa9e6"),
)
"""Colours of the communities with most names in the drawing, visible on light and dark backgrounds."""
OTHER_COLOUR = "#98a2b3"
_MIN_RADIUS, _MAX_RADIUS, _CHARACTER_WIDTH = 2.5, 19.0, 0.6
_MAX_LABEL_CHARS = 26
"""Maximum length of a label."""
_EDGE_BEND = 0.12
"""Bend of a connection, as a fraction of its length."""
_ITERATIONS, _SEPARATION_ITERATIONS, _SEED, _GAP = 300, 80, 7, 3.5
BoundingBox = tuple[float, float, float, float]


class Dot(NamedTuple):
    """A name in the drawing."""

    name: str
    degree: int
    community: str
    """Its community of level 0."""
    colour: str
    x: float
    y: float
    radius: float


class EdgePath(NamedTuple):
    """A connection in the drawing: an SVG path, slightly bent to separate the connections of one name."""

    path: str
    colour: str
    width: float


class Label(NamedTuple):
    """The label of a name, with the middle of its base line."""

    text: str
    x: float
    y: float
    size: float


class GraphDrawing(NamedTuple):
    """A drawing: dots, the largest first; connections; labels; colours by community; the number of connections omitted."""

    dots: tuple[Dot, ...]
    edge_paths: tuple[EdgePath, ...]
    labels: tuple[Label, ...]
    colours: Mapping[str, str]
    omitted_edges: int
    view_box: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def layout_graph(inside: GraphView) -> GraphDrawing:
    """Return the drawing of a graph (deterministic)."""
    names = inside.graph.names
    community_of = {key: id for id in inside.root for key in inside.partition[id].members}
    keys = sorted(community_of, key=lambda key: (-names[key].degree, key))[:MAX_NAMES]
    inner_edges = [pair for pair in inside.graph.edges if set(keys).issuperset(pair)]
    edges = sorted(inner_edges, key=lambda pair: (-inside.graph.edges[pair].times, pair))
    connected = {key for pair in edges[:MAX_EDGES] for key in pair}
    keys = [key for key in keys if key in connected]
    sizes = Counter(community_of[key] for key in keys)
    largest = sorted(sizes, key=lambda id: (-sizes[id], -inside.size(id)))[: len(COMMUNITY_COLOURS)]
    colours = dict(zip(largest, COMMUNITY_COLOURS, strict=False))
    # The area of a dot is proportional to its degree.
    radii = {key: max(_MIN_RADIUS, _MAX_RADIUS * math.sqrt(names[key].degree / names[keys[0]].degree)) for key in keys}
    positions = _compute_positions(radii, edges[:MAX_EDGES])
    dots = {
        key: Dot(
            names[key].name, names[key].degree, community_of[key], colours.get(community_of[key], OTHER_COLOUR), *positions[key], radii[key]
        )
        for key in keys
    }
    times = {pair: inside.graph.edges[pair].times for pair in edges[:MAX_EDGES]}
    edge_paths = tuple(_edge_path(dots[one], dots[other], times[one, other]) for one, other in sorted(times, key=lambda pair: times[pair]))
    return GraphDrawing(tuple(dots.values()), edge_paths, _labels(list(dots.values())), colours, max(0, len(edges) - MAX_EDGES))


def _compute_positions(radii: Mapping[str, float], edges: Sequence[Pair]) -> dict[str, tuple[float, float]]:
    """Return positions for names with the given radii, by ForceAtlas2: connected names close together, without overlaps."""
    import networkx

    graph: networkx.Graph[str] = networkx.Graph()
    graph.add_nodes_from(radii)
    graph.add_edges_from(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        layout = networkx.forceatlas2_layout(graph, max_iter=_ITERATIONS, scaling_ratio=2.0, gravity=1.0, seed=_SEED)
    positions = np.array([layout[key] for key in radii], dtype=np.float64)
    minimum, maximum = positions.min(axis=0), positions.max(axis=0)
    first, last = np.array((2 * MARGIN, MARGIN)), np.array((WIDTH - 2 * MARGIN, HEIGHT - MARGIN))
    positions = first + (positions - minimum) * (np.array((WIDTH - 4 * MARGIN, HEIGHT - 3 * MARGIN)) / np.maximum(maximum - minimum, 1e-9))
    radii_array = np.array(list(radii.values()))
    min_distances = radii_array[:, None] + radii_array[None, :] + _GAP
    for _ in range(_SEPARATION_ITERATIONS):  # move overlapping dots apart
        differences = positions[:, None] - positions[None, :]
        distance = np.hypot(differences[..., 0], differences[..., 1])
        np.fill_diagonal(distance, np.inf)
        push = np.maximum(min_distances - distance, 0) / np.maximum(distance, 1e-6) / 2
        positions += np.clip((push[..., None] * differences).sum(axis=1), -_GAP, _GAP)
        positions = np.clip(positions, first, last)
    return {key: (round(float(x), 1), round(float(y), 1)) for key, (x, y) in zip(radii, positions, strict=True)}


def _edge_path(one: Dot, other: Dot, times: int) -> EdgePath:
    x, y = (one.x + other.x) / 2 + (other.y - one.y) * _EDGE_BEND, (one.y + other.y) / 2 - (other.x - one.x) * _EDGE_BEND
    path = f"M{one.x:.0f} {one.y:.0f}Q{x:.0f} {y:.0f} {other.x:.0f} {other.y:.0f}"
    return EdgePath(path, one.colour if one.community == other.community else OTHER_COLOUR, 0.6 + 0.5 * math.log2(times))


def _labels(dots: Sequence[Dot]) -> tuple[Label, ...]:
    """Return labels of the most connected names without overlaps, covering as few dots as possible."""
    placed: list[Label] = []
    used_boxes: list[BoundingBox] = []
    dot_boxes = {dot: (dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius) for dot in dots}
    for dot in dots:
        if len(placed) == MAX_LABELS:
            break
        candidates = []
        for label, (left, top, right, bottom) in _label_candidates(dot):
            is_inside = left >= 0 and top >= 0 and right <= WIDTH and bottom <= HEIGHT
            if is_inside and not any(_overlap_area((left, top, right, bottom), used_box) for used_box in used_boxes):
                candidates.append((label, (left, top, right, bottom)))
        if candidates:
            label, box = min(
                candidates, key=lambda candidate: sum(_overlap_area(candidate[1], dot_boxes[other]) for other in dots if other is not dot)
            )
            placed.append(label)
            used_boxes.append(box)
    return tuple(placed)


def _label_candidates(dot: Dot) -> Iterator[tuple[Label, BoundingBox]]:
    """Yield the possible positions of a dot's label with their bounding boxes."""
    size = 11 + dot.radius / 4
    text = truncate_line(dot.name, _MAX_LABEL_CHARS)
    length = cell_len(text) * size * _CHARACTER_WIDTH
    middle, offset, half_width = dot.y + size * 0.35, dot.radius + 3 + length / 2, length / 2 + 1
    top_y, bottom_y = dot.y - dot.radius - 3, dot.y + dot.radius + size * 0.9
    for x, y in ((dot.x, top_y), (dot.x, bottom_y), (dot.x + offset, middle), (dot.x - offset, middle), (dot.x, middle)):
        yield Label(text, x, y, size), (x - half_width, y - size * 0.85, x + half_width, y + size * 0.25)


def _overlap_area(one: BoundingBox, other: BoundingBox) -> float:
    width, height = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0
