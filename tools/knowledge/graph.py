"""The graph as it is kept: each name and each connection with one description."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ramify.tools.english import word_set
from ramify.tools.knowledge.elements import Claim, Entity, Knowledge, Pair, Relation, Told

_SHORT, _LONG = 40, 200
"""Characters between which a sentence describes well: shorter ones say little, longer ones are tables."""
_PROSE = re.compile(r"[\"'“‘(]?[^\W_a-z][^=|<>{}\[\]\\]*[.!?][\"'”’)]*")
_REFERS = word_set("he she it they his her its their this that these those there here i we you but and or so then also however both such")
"""Words that open a sentence which says little alone."""


class Name(NamedTuple):
    """A name: how it is written, its kind, what is said of it, how many others it is connected with, and where it stands."""

    name: str
    kind: str
    told: Told
    degree: int
    passages: tuple[str, ...]


class Connection(NamedTuple):
    """A connection: how often it is told of, and how."""

    times: int
    told: Told


class Graph(NamedTuple):
    """Names by key, connections by pair, claims: in order of their keys."""

    names: Mapping[str, Name]
    edges: Mapping[Pair, Connection]
    claims: tuple[Claim, ...] = ()


Describe = Callable[[list[Told], Sequence[str]], Told]
"""Makes one description of what was said, given how the element's names are written."""


def settled(knowledge: Knowledge, describe: Describe) -> Graph:
    """Give each element one description."""
    degrees = knowledge.degrees()

    def named(key: str, entity: Entity) -> Name:
        return Name(entity.name, entity.kind, describe(entity.told, [entity.name]), degrees[key], tuple(sorted(entity.passages)))

    def connected(pair: Pair, relation: Relation) -> Connection:
        return Connection(relation.count, describe(relation.told, [knowledge.entities[key].name for key in pair]))

    return Graph(
        {key: named(key, entity) for key, entity in knowledge.entities.items()},
        {pair: connected(pair, relation) for pair, relation in knowledge.relations.items()},
        tuple(knowledge.claims),
    )


def quoted(told: list[Told], names: Sequence[str] = ()) -> Told:
    """Take one sentence for all: one that names what it is about and can be read alone, the first of those."""
    return min(told, key=lambda one: (not is_prose(one.text), sum(name not in one.text for name in names)), default=Told("", ""))


def is_prose(text: str) -> bool:
    """Tell whether a text is a sentence that can be read alone, and no line of a table or a program."""
    words = text.split()
    return _SHORT <= len(text) <= _LONG and bool(_PROSE.fullmatch(text)) and words[0].strip("\"'“‘(,").casefold() not in _REFERS


def joined(told: list[Told], names: Sequence[str] = ()) -> Told:
    """Join what was said, each once, in order; the passage is that of the first."""
    return Told(" ".join(dict.fromkeys(one.text for one in told)), told[0].passage) if told else Told("", "")
