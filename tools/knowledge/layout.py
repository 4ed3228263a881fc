"""Where the names of a graph lie on a sheet, so that those that are connected lie together and none covers another."""

from collections.abc import Mapping, Sequence

import numpy as np

from ramify.tools.knowledge.elements import Pair

WIDTH, HEIGHT, MARGIN = 1000.0, 760.0, 30.0
_ROUNDS, _APART, _SEED, _GAP = 300, 80, 7, 3.5
Place = tuple[float, float]


def laid_out(radii: Mapping[str, float], edges: Sequence[Pair]) -> dict[str, Place]:
    """Place names, given with the room that each takes, by ForceAtlas2 on a sheet; the same graph gives the same places."""
    import networkx

    graph: networkx.Graph[str] = networkx.Graph()
    graph.add_nodes_from(radii)
    graph.add_edges_from(edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = networkx.forceatlas2_layout(graph, max_iter=_ROUNDS, scaling_ratio=2.0, gravity=1.0, seed=_SEED)
    places = {key: (float(x), float(y)) for key, (x, y) in found.items()}
    left, right = min(x for x, _ in places.values()), max(x for x, _ in places.values())
    top, bottom = min(y for _, y in places.values()), max(y for _, y in places.values())
    across, down = (WIDTH - 4 * MARGIN) / max(right - left, 1e-9), (HEIGHT - 3 * MARGIN) / max(bottom - top, 1e-9)
    return _apart({key: (2 * MARGIN + (x - left) * across, MARGIN + (y - top) * down) for key, (x, y) in places.items()}, radii)


def _apart(places: Mapping[str, Place], radii: Mapping[str, float]) -> dict[str, Place]:
    """Move dots that cover each other apart."""
    spots = np.array([places[key] for key in radii])
    reach = np.array(list(radii.values()))
    wanted = reach[:, None] + reach[None, :] + _GAP
    for _ in range(_APART):
        between = spots[:, None] - spots[None, :]
        distance = np.hypot(between[..., 0], between[..., 1])
        np.fill_diagonal(distance, np.inf)
        push = np.maximum(wanted - distance, 0) / np.maximum(distance, 1e-6) / 2
        spots += np.clip((push[..., None] * between).sum(axis=1), -_GAP, _GAP)
        spots = np.clip(spots, (2 * MARGIN, MARGIN), (WIDTH - 2 * MARGIN, HEIGHT - MARGIN))
    return {key: (round(float(x), 1), round(float(y), 1)) for key, (x, y) in zip(radii, spots, strict=True)}
