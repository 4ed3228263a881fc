"""Text units of passages, the entities, relations and claims in them, and the graph that is kept: each with one description."""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ramify.tools.english import fold, strip_disambiguation, word_set
from ramify.tools.index.passage_store import document_of

Pair = tuple[str, str]
"""The keys of two connected names, in order."""
_SHORT, _LONG = 40, 200
"""Characters between which a sentence describes well: shorter ones say little, longer ones are tables."""
_PROSE = re.compile(r"[\"'“‘(]?[^\W_a-z][^=|<>{}\[\]\\]*[.!?][\"'”’)]*")
_REFERS = word_set("he she it they his her its their this that these those there here i we you but and or so then also however both such")
"""Words that open a sentence which says little alone."""


class Mention(NamedTuple):
    """A name where it stands; kind and description may be empty."""

    key: str
    name: str
    passage: str
    kind: str = ""
    description: str = ""


class Link(NamedTuple):
    """A connection of two names where it is told, with the strength from 1 to 10 that the text gives it."""

    pair: Pair
    description: str
    passage: str
    strength: float = 1.0


class Claim(NamedTuple):
    """What a text claims of a name: a covariate (GraphRAG §1)."""

    subject: str
    object: str
    kind: str
    description: str
    passage: str
    span: str = ""
    """The words of the passage that say it, as they are written there."""
    start: str = ""
    end: str = ""

    @property
    def dates(self) -> str:
        """Write when it was so, as far as the text says: 1852, 1852 to 1904, until 1904."""
        return " to ".join(dict.fromkeys(filter(None, (self.start, self.end)))) if self.start else self.end and f"until {self.end}"

    @property
    def text(self) -> str:
        """Write it out, with its type, its object and its dates."""
        about = "; ".join(filter(None, (self.kind, self.object and f"concerns {self.object}", self.dates)))
        return f"{self.description} ({about})" if about else self.description


class Elements(NamedTuple):
    """The instances found in one passage, or in a unit of several."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    claims: tuple[Claim, ...] = ()


class Told(NamedTuple):
    """What is said of an element, and the passage that says it."""

    text: str
    passage: str


@dataclass
class Entity:
    """A name with all that is said of it."""

    key: str
    names: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    told: list[Told] = field(default_factory=list)
    passages: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Write it as it is written most often."""
        return min(self.names, key=lambda name: (-self.names[name], name))

    @property
    def kind(self) -> str:
        """Name its kind, empty where none is known."""
        return min(self.kinds, key=lambda kind: (-self.kinds[kind], kind), default="")


@dataclass
class Relation:
    """A connection with all that is said of it."""

    count: int = 0
    strength: float = 0.0
    told: list[Told] = field(default_factory=list)


@dataclass
class Knowledge:
    """The names of a corpus by key, their relations by pair, and the claims; all in order of their keys."""

    entities: dict[str, Entity]
    relations: dict[Pair, Relation]
    claims: list[Claim]


def linked(one: str, other: str, description: str, passage: str, strength: float = 1.0) -> Link:
    """Connect two names, whichever comes first."""
    return Link((one, other) if one < other else (other, one), description, passage, strength)


def title_key(title: str) -> str:
    """Return the key of a title: without what tells two articles of one name apart, as in "Solaris (1972 film)"."""
    return fold(strip_disambiguation(title))


def sum_up(found: Iterable[Elements]) -> Knowledge:
    """Sum up the instances; their order changes nothing."""
    instances = list(found)
    mentions = [mention for part in instances for mention in part.mentions]
    same = _longer_names(mentions)
    entities: dict[str, Entity] = {}
    for mention in sorted(set(mentions)):
        key = same.get((document_of(mention.passage), mention.key), mention.key)
        entity = entities.setdefault(key, Entity(key))
        if key == mention.key:
            entity.names[mention.name] += 1
        if mention.kind:
            entity.kinds[mention.kind] += 1
        if mention.description:
            entity.told.append(Told(mention.description, mention.passage))
        entity.passages.add(mention.passage)
    relations: dict[Pair, Relation] = {}
    for link in sorted(link for part in instances for link in part.links):
        one, other = (same.get((document_of(link.passage), key), key) for key in link.pair)
        if one == other or one not in entities or other not in entities:
            continue
        relation = relations.setdefault((min(one, other), max(one, other)), Relation())
        relation.count += 1
        relation.strength += link.strength
        if link.description:
            relation.told.append(Told(link.description, link.passage))
    claims = sorted({claim for part in instances for claim in part.claims})
    resolved = [claim._replace(subject=same.get((document_of(claim.passage), claim.subject), claim.subject)) for claim in claims]
    known = [claim for claim in resolved if claim.subject in entities]
    return Knowledge(dict(sorted(entities.items())), dict(sorted(relations.items())), known)


def _longer_names(mentions: Iterable[Mention]) -> dict[Pair, str]:
    """Map a document and a name of one word in it to the only longer name there that ends with it."""
    keys: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        keys[document_of(mention.passage)].add(mention.key)
    joined: dict[Pair, str] = {}
    for document, named in keys.items():
        by_last: dict[str, set[str]] = defaultdict(set)
        for key in named:
            if " " in key:
                by_last[key.rpartition(" ")[2]].add(key)
        joined |= {(document, key): longer.pop() for key in named if " " not in key and len(longer := by_last.get(key, set())) == 1}
    return joined


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
    degrees = Counter(key for pair in knowledge.relations for key in pair)
    names = {
        key: Name(one.name, one.kind, describe(one.told, [one.name]), degrees[key], tuple(sorted(one.passages)))
        for key, one in knowledge.entities.items()
    }
    edges = {
        pair: Connection(one.count, describe(one.told, [names[key].name for key in pair])) for pair, one in knowledge.relations.items()
    }
    return Graph(names, edges, tuple(knowledge.claims))


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


class Piece(NamedTuple):
    """A passage: its id, text and document, and what it stands under: its document's title and the headings, the outermost first."""

    id: str
    document: str
    text: str
    titles: tuple[str, ...] = ()


class Unit(NamedTuple):
    """Consecutive passages of one document, read in one call."""

    pieces: tuple[Piece, ...]

    @property
    def title(self) -> str:
        """Name what it is from."""
        return " > ".join(self.pieces[0].titles)

    @property
    def text(self) -> str:
        """Write its passages one after another."""
        return "\n".join(piece.text for piece in self.pieces)


def read_pieces(path: Path) -> list[Piece]:
    """Read the passages of an index that are searched, document by document, in their order; whichever came in first."""
    sql = "SELECT id, document, text, label FROM passages WHERE hidden IS NULL ORDER BY document, row"
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(sql)
        return [Piece(id, document, text, tuple(label.split(" > ")) if label else ()) for id, document, text, label in rows]


def units(pieces: Sequence[Piece], count: Callable[[str], int], tokens: int) -> list[Unit]:
    """Group consecutive passages of one document into units of at most so many tokens; one that is longer is a unit of its own.

    One round at 600 tokens finds almost twice the names of one at 2,400 (GraphRAG §1).
    """
    found: list[Unit] = []
    total = 0
    for piece in pieces:
        length = count(piece.text)
        if found and found[-1].pieces[-1].document == piece.document and total + length <= tokens:
            found[-1] = Unit((*found[-1].pieces, piece))
            total += length
        else:
            found.append(Unit((piece,)))
            total = length
    return found


def halves(unit: Unit) -> tuple[Unit, ...]:
    """Cut a unit in two, between passages, or within the one it has; one that cannot be cut comes back alone."""
    middle = len(unit.pieces) // 2
    if middle:
        return Unit(unit.pieces[:middle]), Unit(unit.pieces[middle:])
    piece = unit.pieces[0]
    cut = piece.text.rfind(" ", 0, len(piece.text) // 2 + 1)
    if cut <= 0:
        return (unit,)
    return tuple(Unit((piece._replace(text=part),)) for part in (piece.text[:cut], piece.text[cut:].lstrip()))
