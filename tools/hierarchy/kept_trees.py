"""Trees that are kept between builds: what has not changed is not grown again, and what has changed goes on from what was there."""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.hierarchy.clustering import Clusters
from ramify.tools.hierarchy.groups_and_nodes import Node, Said, Summary, Tree
from ramify.tools.hierarchy.leaves import Leaves
from ramify.tools.hierarchy.tree import Grown
from ramify.tools.knowledge.kept_replies import Work


class Last(NamedTuple):
    """How a group was: the key of its tree, its lowest clusters by ids of leaves, and how much it had changed since it was clustered."""

    key: str = ""
    lowest: Sequence[Sequence[str]] = ()
    drift: float = 0.0


class Kept:
    """Keep trees by what they are grown from, and the last one of each group."""

    def __init__(self, work: Work, leaves: Leaves, made: Sequence[str]) -> None:
        """Keep trees; made: what else a tree depends on: settings, the embedding, who sums up."""
        self._work, self._leaves, self._made = work, leaves, made
        self._places = {id: place for place, id in enumerate(leaves.ids)}
        rows = zip(leaves.ids, leaves.titles, leaves.vectors, strict=True)
        self._digests = [hashlib.sha256(f"{id}\0{title}".encode() + vector.tobytes()).digest() for id, title, vector in rows]

    def key(self, name: str, own: Sequence[int], linked: bool, before: Sequence[Sequence[str]] = ()) -> str:
        """Give the key of a group's tree: another one where a leaf, a setting, the name or what it goes on from is another."""
        content = hashlib.sha256(json.dumps([*self._made, name, linked]).encode())
        for place in own:
            content.update(self._digests[place])
        earlier = f" {hashlib.sha256(json.dumps(before).encode()).hexdigest()}" if before else ""
        return f"tree {content.hexdigest()}{earlier}"

    def get(self, key: str) -> Grown | None:
        """Return the tree kept under a key; none where a leaf of it is gone."""
        held = self._work.get(key) if key else None
        tree = self._read(held) if held else None
        return Grown(tree, tuple(held["notes"])) if held and tree else None

    def put(self, key: str, made: Grown) -> None:
        """Keep a tree."""
        self._work.put(key, {"nodes": self._written(made.tree), "notes": made.notes})

    def settle(self, name: str, key: str, tree: Tree, drift: float) -> None:
        """Keep how a group is at the end of a build: a further one goes on from that, an interrupted one does not."""
        lowest = [[self._leaves.ids[leaf] for leaf in node.leaves] for node in tree if not node.children]
        self._work.put(self._latest(name), {"key": key, "lowest": lowest, "drift": drift})

    def latest(self, name: str) -> Last:
        """Give how a group was at the end of the last build."""
        held = self._work.get(self._latest(name))
        return Last(**held) if held else Last()

    def _latest(self, name: str) -> str:
        return f"latest {hashlib.sha256(json.dumps([*self._made, name]).encode()).hexdigest()}"

    def _written(self, tree: Tree) -> list[dict[str, Any]]:
        ids = self._leaves.ids
        return [
            {
                "children": node.children,
                "leaves": [] if node.children else [ids[leaf] for leaf in node.leaves],
                "title": node.title,
                "said": [[one.text, ids[one.leaf]] for one in node.summary.said],
                "made_by": node.summary.made_by,
                "support": node.summary.support,
                "vector": base64.b64encode(node.vector.astype("<f4").tobytes()).decode(),
            }
            for node in tree
        ]

    def _read(self, held: dict[str, Any]) -> Tree | None:
        place_of = self._places
        tree: Tree = []
        for node in held["nodes"]:
            children = tuple(node["children"])
            if any(id not in place_of for id in (*node["leaves"], *(id for _, id in node["said"]))):
                return None
            own = [place_of[id] for id in node["leaves"]]
            leaves = tuple(sorted({leaf for child in children for leaf in tree[child].leaves} if children else own))
            said = tuple(Said(text, place_of[id]) for text, id in node["said"])
            vector: Matrix = np.frombuffer(base64.b64decode(node["vector"]), dtype="<f4").astype(np.float32)
            tree.append(Node(children, leaves, node["title"], Summary(said, node["made_by"], node["support"]), vector))
        return tree


def going_on(leaves: Leaves, own: Sequence[int], before: Sequence[Sequence[str]]) -> tuple[Clusters, float]:
    """Go on from clusters as they were: leaves that are gone leave, new ones join the nearest; tell the share of both."""
    place_of = {leaves.ids[place]: place for place in own}
    known = {id for cluster in before for id in cluster}
    clusters = [places for cluster in before if (places := [place_of[id] for id in cluster if id in place_of])]
    new = [place for id, place in place_of.items() if id not in known]
    gone = sum(id not in place_of for id in known)
    if not clusters:
        return [], 1.0
    centres = np.array([leaves.vectors[places].mean(axis=0) for places in clusters])
    centres /= np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
    for place in new:
        clusters[int(np.argmax(centres @ leaves.vectors[place]))].append(place)
    return [sorted(places) for places in clusters], (len(new) + gone) / max(1, len(known))
