"""Partition leaves by their metadata: which fields, which groups, and which leaves are in none for want of metadata."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.groups_and_nodes import NONE, Edge, Group
from ramify.tools.hierarchy.leaves import Leaves, Values, folded

_SHARE, _COVERED = 5, 0.5
"""Leaves for each group, at least, on average; and the share of the leaves that must have a field for it to be proposed."""
_MOST_KEYS = 16
"""Groups of one leaf whose fields are lists."""
_TRIED = 8
"""Fields that are tried together."""
_OWN = frozenset(
    ["source", "page", "pages", "title", "heading", "headings_within", "role", "fragment", "fragments", "id", "start", "description"]
)
"""What says where a passage stands, not where it belongs."""
_JOINED = " / "


class Partition(NamedTuple):
    """Groups in order, their primary edges, and the leaves without a complete key: the None-pool."""

    fields: tuple[str, ...]
    groups: list[Group]
    edges: list[Edge]
    pool: list[int]


def partition(leaves: Leaves, fields: Sequence[str] | None) -> Partition:
    """Group leaves by fields, or by what is proposed; UsageError for fields that are not there, that say nothing, or too much."""
    if fields is not None and tuple(fields) == (NONE,):
        return Partition((NONE,), [Group("everything", (), "all")], [Edge(leaf, 0, 1.0, "primary") for leaf in range(len(leaves))], [])
    chosen = proposed(leaves) if fields is None else tuple(dict.fromkeys(fields))
    found = _grouped(leaves, chosen)
    most = max(2, len(leaves) // _SHARE)
    told = ", ".join(chosen)
    if fields is not None and len(found.groups) == 1 and not found.pool:
        raise UsageError(f"all documents have the same {told}", f"group by other fields ({_others(leaves, chosen)}), or by {NONE}")
    if len(found.groups) > most:
        what = f"{told} makes {len(found.groups):,} groups of {len(leaves):,} passages, more than {most:,}"
        raise UsageError(what, f"group by fewer or coarser fields: {_others(leaves, chosen)}")
    return found


def _grouped(leaves: Leaves, fields: tuple[str, ...]) -> Partition:
    written: dict[tuple[str, ...], Counter[str]] = {}
    keys: list[list[tuple[str, ...]]] = []
    for values in leaves.values(fields):
        listed = list(dict.fromkeys(keys_of(values)))
        keys.append([key for key, _ in listed])
        for key, name in listed:
            written.setdefault(key, Counter())[name] += 1
    ordered = sorted(written)
    groups = [Group(max(sorted(written[key]), key=lambda name: written[key][name]), key, "metadata") for key in ordered]
    number = {key: place for place, key in enumerate(ordered)}
    edges = [Edge(leaf, number[key], 1 / len(own), "primary") for leaf, own in enumerate(keys) for key in dict.fromkeys(own)]
    return Partition(fields, groups, edges, [leaf for leaf, own in enumerate(keys) if not own])


def keys_of(values: Values) -> list[tuple[tuple[str, ...], str]]:
    """Give the keys of a leaf, with how they are written; none where a field is missing, one each for the values of a list."""
    return [(tuple(map(folded, parts)), _JOINED.join(parts)) for parts in product(*values)][:_MOST_KEYS]


def proposed(leaves: Leaves) -> tuple[str, ...]:
    """Choose a field, or two, whose groups are the tightest for their number (Caliński and Harabasz 1974); UsageError where none serves."""
    if not len(leaves):
        return (NONE,)
    return max(serving(leaves), key=lambda chosen: (_tightness(leaves, chosen), -len(chosen), chosen))


def serving(leaves: Leaves) -> list[tuple[str, ...]]:
    """List the fields, and the pairs of them, that make groups of a fitting size; UsageError where there are none."""
    fields = [field for field in leaves.fields if field not in _OWN and _serves(leaves, (field,))][:_TRIED]
    tried: list[tuple[str, ...]] = [(field,) for field in fields]
    tried += [pair for pair in combinations(fields, 2) if _serves(leaves, pair)]
    if not tried:
        raise UsageError(
            "no field of metadata groups these documents", f"name fields ({', '.join(leaves.fields) or 'there are none'}), or group by none"
        )
    return tried


def _serves(leaves: Leaves, fields: tuple[str, ...]) -> bool:
    """Tell whether words, not numbers, make from two groups to one for five leaves, of half of the leaves."""
    said = leaves.values(fields)
    if any(not any(letter.isalpha() for letter in value) for values in said for own in values for value in own):
        return False
    found = _grouped(leaves, fields)
    return 2 <= len(found.groups) <= len(leaves) // _SHARE and len(found.pool) <= (1 - _COVERED) * len(leaves)


def _tightness(leaves: Leaves, fields: tuple[str, ...]) -> float:
    from sklearn.metrics import calinski_harabasz_score

    found = _grouped(leaves, fields)
    own = {edge.leaf: edge.group for edge in reversed(found.edges)}
    places, labels = np.array(sorted(own)), [own[leaf] for leaf in sorted(own)]
    return float(calinski_harabasz_score(leaves.vectors[places], labels)) if 2 <= len(set(labels)) < len(labels) else 0.0


def _others(leaves: Leaves, chosen: Sequence[str]) -> str:
    others = [field for field in leaves.fields if field not in _OWN and field not in chosen]
    return ", ".join(others) or "there are no others"
