"""Text units, the entities, relations and claims extracted from them, and the graph built of these, with one description per element."""

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ramify.tools.english import fold, strip_disambiguation, word_set
from ramify.tools.index.passage_store import document_id

Pair = tuple[str, str]
"""The keys of two connected names, in order."""
_MIN_PROSE_CHARS, _MAX_PROSE_CHARS = 40, 200
"""Length of a descriptive sentence in characters: shorter ones carry little information, longer ones are mostly tables."""
_PROSE_PATTERN = re.compile(r"[\"'“‘(]?[^\W_a-z][^=|<>{}\[\]\\]*[.!?][\"'”’)]*")
_REFERRING_WORDS = word_set(
    "he she it they his her its their this that these those there here i we you but and or so then also however both such"
)
"""First words of sentences that refer to the text before and cannot be read alone."""


class Mention(NamedTuple):
    """An occurrence of a name in a passage; kind and description may be empty."""

    key: str
    name: str
    passage: str
    kind: str = ""
    description: str = ""


class Link(NamedTuple):
    """An occurrence of a relation between two names in a passage."""

    pair: Pair
    description: str
    passage: str


class Claim(NamedTuple):
    """A claim about a name extracted from a passage (a covariate, GraphRAG §1)."""

    subject: str
    object: str
    kind: str
    description: str
    passage: str
    span: str = ""
    """The verbatim quotation from the passage that supports the claim."""
    start: str = ""
    end: str = ""

    @property
    def dates(self) -> str:
        """Return the period of the claim as text, such as "1852", "1852 to 1904" or "until 1904"; empty if unknown."""
        return " to ".join(dict.fromkeys(filter(None, (self.start, self.end)))) if self.start else self.end and f"until {self.end}"

    @property
    def text(self) -> str:
        """Return the claim as text with its type, object and dates."""
        about = "; ".join(filter(None, (self.kind, self.object and f"concerns {self.object}", self.dates)))
        return f"{self.description} ({about})" if about else self.description


class Elements(NamedTuple):
    """The mentions, links and claims extracted from one passage or text unit."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    claims: tuple[Claim, ...] = ()


class Description(NamedTuple):
    """A description of an element, and the id of the passage it was taken from."""

    text: str
    passage: str


@dataclass
class Entity:
    """A name with its spellings, kinds, descriptions and passages."""

    key: str
    names: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    descriptions: list[Description] = field(default_factory=list)
    passages: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Return the most frequent spelling; ties are resolved alphabetically."""
        return min(self.names, key=lambda name: (-self.names[name], name))

    @property
    def kind(self) -> str:
        """Return the most frequent kind, empty if none is known."""
        return min(self.kinds, key=lambda kind: (-self.kinds[kind], kind), default="")


@dataclass
class Relation:
    """A relation with its number of occurrences and its descriptions."""

    count: int = 0
    descriptions: list[Description] = field(default_factory=list)


@dataclass
class Knowledge:
    """The entities of a corpus by key, relations by pair of keys, and claims, sorted by key."""

    entities: dict[str, Entity]
    relations: dict[Pair, Relation]
    claims: list[Claim]


def make_link(one: str, other: str, description: str, passage: str) -> Link:
    """Return a link between two names, whose keys are put in order."""
    return Link((one, other) if one < other else (other, one), description, passage)


def title_key(title: str) -> str:
    """Return the key of a title without its disambiguation: "Solaris (1972 film)" → "solaris"."""
    return fold(strip_disambiguation(title))


def merge_elements(extracted: Iterable[Elements]) -> Knowledge:
    """Merge extracted elements into entities, relations and claims; the result does not depend on their order."""
    instances = list(extracted)
    mentions = [mention for part in instances for mention in part.mentions]
    longer_names = _longer_names(mentions)
    entities: dict[str, Entity] = {}
    for mention in sorted(set(mentions)):
        key = longer_names.get((document_id(mention.passage), mention.key), mention.key)
        entity = entities.setdefault(key, Entity(key))
        if key == mention.key:
            entity.names[mention.name] += 1
        if mention.kind:
            entity.kinds[mention.kind] += 1
        if mention.description:
            entity.descriptions.append(Description(mention.description, mention.passage))
        entity.passages.add(mention.passage)
    relations: dict[Pair, Relation] = {}
    for link in sorted(link for part in instances for link in part.links):
        one, other = (longer_names.get((document_id(link.passage), key), key) for key in link.pair)
        if one == other or one not in entities or other not in entities:
            continue
        relation = relations.setdefault((min(one, other), max(one, other)), Relation())
        relation.count += 1
        if link.description:
            relation.descriptions.append(Description(link.description, link.passage))
    claims = sorted({claim for part in instances for claim in part.claims})
    resolved = [claim._replace(subject=longer_names.get((document_id(claim.passage), claim.subject), claim.subject)) for claim in claims]
    known = [claim for claim in resolved if claim.subject in entities]
    return Knowledge(dict(sorted(entities.items())), dict(sorted(relations.items())), known)


def _longer_names(mentions: Iterable[Mention]) -> dict[Pair, str]:
    """Map (document, one-word name) to the longer name it abbreviates, if exactly one name of the document ends with that word."""
    keys: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        keys[document_id(mention.passage)].add(mention.key)
    longer_names: dict[Pair, str] = {}
    for document, named in keys.items():
        by_last: dict[str, set[str]] = defaultdict(set)
        for key in named:
            if " " in key:
                by_last[key.rpartition(" ")[2]].add(key)
        longer_names |= {
            (document, key): candidates.pop() for key in named if " " not in key and len(candidates := by_last.get(key, set())) == 1
        }
    return longer_names


class Name(NamedTuple):
    """A node of the graph: spelling, kind, description, number of connected names, and ids of the passages with it."""

    name: str
    kind: str
    description: Description
    degree: int
    passages: tuple[str, ...]


class Connection(NamedTuple):
    """An edge of the graph: its number of occurrences and its description."""

    times: int
    description: Description


class Graph(NamedTuple):
    """Nodes by key, edges by pair of keys, and claims, sorted by key."""

    names: Mapping[str, Name]
    edges: Mapping[Pair, Connection]
    claims: tuple[Claim, ...] = ()


DescribeElement = Callable[[list[Description], Sequence[str]], Description]
"""Returns one description for several of an element, given the spellings of its names."""


def to_graph(knowledge: Knowledge, describe: DescribeElement) -> Graph:
    """Return the graph of the entities and relations, with one description each."""
    degrees = Counter(key for pair in knowledge.relations for key in pair)
    names = {
        key: Name(entity.name, entity.kind, describe(entity.descriptions, [entity.name]), degrees[key], tuple(sorted(entity.passages)))
        for key, entity in knowledge.entities.items()
    }
    edges = {
        pair: Connection(relation.count, describe(relation.descriptions, [names[key].name for key in pair]))
        for pair, relation in knowledge.relations.items()
    }
    return Graph(names, edges, tuple(knowledge.claims))


def pick_description(descriptions: list[Description], names: Sequence[str] = ()) -> Description:
    """Return the most representative description: prose that contains the names, the first of these; empty if there are none."""
    return min(
        descriptions,
        key=lambda description: (not is_prose(description.text), sum(name not in description.text for name in names)),
        default=Description("", ""),
    )


def is_prose(text: str) -> bool:
    """Return whether a text is a sentence of prose that can be read without context, not a line of a table or program."""
    words = text.split()
    return (
        _MIN_PROSE_CHARS <= len(text) <= _MAX_PROSE_CHARS
        and bool(_PROSE_PATTERN.fullmatch(text))
        and words[0].strip("\"'“‘(,").casefold() not in _REFERRING_WORDS
    )


def join_descriptions(descriptions: list[Description], names: Sequence[str] = ()) -> Description:
    """Return the distinct descriptions joined in order, with the passage of the first."""
    return (
        Description(" ".join(dict.fromkeys(description.text for description in descriptions)), descriptions[0].passage)
        if descriptions
        else Description("", "")
    )


class Piece(NamedTuple):
    """A passage with its id, document, text and headings: the document's title, then the section headings from the outermost."""

    id: str
    document: str
    text: str
    titles: tuple[str, ...] = ()


class TextUnit(NamedTuple):
    """A text unit (GraphRAG §1): consecutive passages of one document, processed in one model call."""

    pieces: tuple[Piece, ...]

    @property
    def title(self) -> str:
        """Return the headings of its first passage, joined by " > "."""
        return " > ".join(self.pieces[0].titles)

    @property
    def text(self) -> str:
        """Return the texts of its passages, one per line."""
        return "\n".join(piece.text for piece in self.pieces)


def read_pieces(path: Path) -> list[Piece]:
    """Return the searchable passages of an index by document, in reading order; independent of the order of indexing."""
    sql = "SELECT id, document, text, label FROM passages WHERE hidden IS NULL ORDER BY document, row"
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(sql)
        return [Piece(id, document, text, tuple(label.split(" > ")) if label else ()) for id, document, text, label in rows]


def text_units(pieces: Sequence[Piece], count: Callable[[str], int], tokens: int) -> list[TextUnit]:
    """Group consecutive passages of a document into units of at most `tokens` tokens; a longer passage is a unit by itself.

    One round at 600 tokens finds almost twice the names of one at 2,400 (GraphRAG §1).
    """
    grouped: list[TextUnit] = []
    total = 0
    for piece in pieces:
        length = count(piece.text)
        if grouped and grouped[-1].pieces[-1].document == piece.document and total + length <= tokens:
            grouped[-1] = TextUnit((*grouped[-1].pieces, piece))
            total += length
        else:
            grouped.append(TextUnit((piece,)))
            total = length
    return grouped


def split_unit(unit: TextUnit) -> tuple[TextUnit, ...]:
    """Split a unit in two between passages, or within a single passage; a unit that cannot be split is returned unchanged."""
    middle = len(unit.pieces) // 2
    if middle:
        return TextUnit(unit.pieces[:middle]), TextUnit(unit.pieces[middle:])
    piece = unit.pieces[0]
    cut = piece.text.rfind(" ", 0, len(piece.text) // 2 + 1)
    if cut <= 0:
        return (unit,)
    return tuple(TextUnit((piece._replace(text=part),)) for part in (piece.text[:cut], piece.text[cut:].lstrip()))
