"""What is made worse to see how strategies and searches bear it: questions, what a search finds, and the metadata of documents.

Of questions and searches (the open questions of PruneRAG) all that is drawn depends on the seed, the question and what it is drawn for,
and on nothing else: strategies that are compared meet the same, and what a small share hits, a larger one hits, too. Of metadata each cell
is a random share of the documents, in which several systems are measured.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from langchain_core.documents import Document

from ramify.evaluation.dataset import Dataset, Question
from ramify.nodes.tree import FrozenModel
from ramify.tools.documents.load import DocumentStream
from ramify.tools.english import ENGLISH_STOP_WORDS, find_names, fold, strip_disambiguation
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.leaves import Binned, binned
from ramify.tools.hierarchy.partition import keys_of
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import documents
from ramify.tools.index.searcher import opened

How = Literal["entities", "retriever", "distractors", "paraphrase"]
TOLD: dict[How, str] = {
    "entities": "names in sub-questions and look-ups that are searched as another name of the corpus",
    "retriever": "passages found that are replaced by lower-ranked ones",
    "distractors": "passages found that are replaced by look-alikes from other documents",
    "paraphrase": "content words of the question that are replaced by a synonym, or else exchanged with the next word",
}
"""What a share of is made worse."""
HOWS: tuple[How, ...] = get_args(How)
_LOOK_ALIKES = 10
"""Passages among which a look-alike is chosen."""
_FETCHED = 4
"""Candidates that MMR picks from, for each passage wanted (`fetch_k`)."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_PAIRS = """
film movie, city town, country nation, author writer, founder creator, located situated, invented devised, founded established,
spouse partner, father dad, mother mum, child kid, album record, song track, singer vocalist, band group, company firm,
actor performer, older elder, oldest eldest, earlier sooner, built constructed, largest biggest, large big, small little,
prize award, war conflict, started began, ended finished, work opus, place location, wrote penned, made produced,
released issued, died perished, lived resided, river stream, castle fortress, church chapel, language tongue,
college university, street road, job profession, picture painting, nationality citizenship, same identical, team side,
series show, famous renowned, name title, called named
"""
_SYNONYMS = {
    word: other for one, two in (pair.split() for pair in _PAIRS.split(",")) for word, other in ((one, two), (two, one))
}  # fmt: skip


class Degradation(FrozenModel):
    """What is made worse, and for which share of it."""

    how: How
    share: float


def degrade_question(question: Question, index: str, by: Degradation, seed: int) -> tuple[str, str | Index]:
    """Return a question as it is asked, and the index that is searched for it: one of the two is made worse. Blocking."""
    if by.how == "paraphrase":
        return paraphrased(question.question, by.share, f"{seed}|{question.id}"), index
    return question.question, DegradedIndex(opened(index), question, by, seed)


def is_drawn(share: float, *drawn_for: object) -> bool:
    """Return whether something is among the share that is drawn."""
    return random.Random("|".join(map(str, drawn_for))).random() < share


def paraphrased(question: str, share: float, seed: str) -> str:
    """Return a question with a share of its content words replaced or moved; names stay whole and in place."""
    parts = _WORD.split(question)
    words = _WORD.findall(question)
    named = {part for name in find_names(question) for part in _WORD.findall(name)}
    for place, word in enumerate(list(words)):
        if (
            words[place] != word
            or word in named
            or fold(word) in ENGLISH_STOP_WORDS
            or not is_drawn(share, seed, "paraphrase", place, word)
        ):
            continue
        follower = words[place + 1] if place + 1 < len(words) else ""
        if (other := _SYNONYMS.get(word.casefold())) is not None:
            words[place] = other.capitalize() if word[0].isupper() else other
        elif follower and follower not in named:
            words[place], words[place + 1] = follower, word
    return "".join(text for pair in zip(parts, [*words, ""], strict=True) for text in pair)


class DegradedIndex(Index):
    """An index whose search is made worse for one question."""

    def __init__(self, index: Index, question: Question, by: Degradation, seed: int) -> None:
        self.__dict__.update(index.__dict__)  # it is that index in all but its search
        self._whole, self._question, self._by, self._drawn = index, question, by, (seed, question.id, by.how)

    def search(self, queries: Sequence[str], k: int = 5, **options: Any) -> list[list[Hit]]:  # type: ignore[override]
        """Return the passages of `Index.search`, made worse."""
        if self._by.how == "entities":
            return self._whole.search([self._renamed(query) for query in queries], k, **options)
        if self._by.how == "distractors":
            return [self._with_look_alikes(hits, options) for hits in self._whole.search(queries, k, **options)]
        options["fetch_k"] = options.get("fetch_k") or _FETCHED * k  # the first k stay those that they were
        found = self._whole.search(queries, 2 * k, **options)
        return [([one for one in hits[:k] if not self._is_drawn(one)] + hits[k:])[:k] for hits in found]

    def _is_drawn(self, one: Hit) -> bool:
        return is_drawn(self._by.share, *self._drawn, one.document.id)

    @cached_property
    def _names(self) -> list[str]:
        """List the names of the corpus: the titles of its documents."""
        titles = (str(one.metadata.get("title", "")) for one in documents(self._whole, self._whole.ids()))
        return sorted({bare for title in titles if (bare := strip_disambiguation(title))})

    def _renamed(self, query: str) -> str:
        """Return a sub-question with a share of its names replaced by others; the question itself as it is."""
        if fold(query) == fold(self._question.question):
            return query
        for name in find_names(query):
            if is_drawn(self._by.share, *self._drawn, fold(name)) and (others := [one for one in self._names if fold(one) != fold(name)]):
                query = query.replace(name, random.Random("|".join(map(str, (*self._drawn, "name", fold(name))))).choice(others))
        return query

    def _with_look_alikes(self, hits: list[Hit], options: dict[str, Any]) -> list[Hit]:
        """Replace a share of the passages by those most like them from other documents, each with the score of the one it stands for."""
        places = [place for place, one in enumerate(hits) if self._is_drawn(one)]
        texts = [hits[place].document.page_content for place in places]
        like = self._whole.search(texts, _LOOK_ALIKES, hybrid=False, filter=options.get("filter"), view="flat")
        taken, replaced = {one.document.id for one in hits}, list(hits)
        for place, found in zip(places, like, strict=True):
            source = hits[place].document.metadata.get("source")
            other = next((one for one in found if one.document.metadata.get("source") != source and one.document.id not in taken), None)
            if other is not None:
                taken.add(other.document.id)
                replaced[place] = hits[place]._replace(document=other.document)
        return replaced


MISSING, NOISE = "missing", "noise"
WHOLE = "none"
"""Metadata that are not degraded."""
SYSTEM = "system"
"""The field that only lines of degraded metadata have."""


class DegradedCell(NamedTuple):
    """A kind of degradation, the share of documents affected, and the number of the random draw."""

    degraded: str = WHOLE
    share: float = 0.0
    draw: int = 1

    @property
    def name(self) -> str:
        """Return the variant name of its lines."""
        return f"{self.degraded}={self.share:g}, draw {self.draw}" if self.share else "clean"


class System(NamedTuple):
    """A search configuration and its index: passages with or without labels, grouped or with one tree over everything."""

    told: str
    """A description."""
    options: Mapping[str, Any] | None = None
    """Options of the hierarchy search; None for flat search."""
    labelled: bool = False
    grouped: bool = True
    known: bool = False
    """Whether it searches only documents with the gold document's true values (an oracle)."""
    once: bool = False
    """Whether it is measured on intact metadata only."""


FLAT, HEADINGS, FILTER, TREE, FULL = "flat", "flat + headings", "hard filter", "global RAPTOR", "full"
GROUPS, HARD, SOFT = "meta + flat", "meta + RAPTOR, hard", "soft, no novelty"
LABEL, BOTH = "label", "full + label"
SYSTEMS = {
    FLAT: System("vectors and words, without groups or trees; reads no metadata", once=True),
    HEADINGS: System(
        "flat, and a passage gains whose heading the question names, as in all systems below but the filter and labels alone",
        {"summaries": 0, "fallback": 1},
        grouped=False,
        once=True,
    ),
    FILTER: System(
        "an oracle: flat search among the documents that have the gold's true metadata; questions whose gold has none are left out",
        known=True,
    ),
    TREE: System("one tree of summaries over everything (--group-by none); reads no metadata", {}, grouped=False, once=True),
    GROUPS: System(
        "groups by metadata, no trees: what is in no likely group is not found", {"members": "primary", "summaries": 0, "fallback": 0}
    ),
    HARD: System("groups by metadata, each with its tree", {"members": "primary", "fallback": 0}),
    SOFT: System(
        "what lacks metadata belongs to the groups it is like; nothing is founded, moved or left to the pool", {"members": "soft"}
    ),
    FULL: System("all memberships, and what is in no likely group still counts a little", {}),
    "full, headings=0": System("without what a passage gains whose heading the question names", {"headings": 0}, once=True),
    LABEL: System("flat search in passages embedded under these metadata", labelled=True),
    BOTH: System("both at once", {}, labelled=True),
}
"""All systems, from the simplest on; the last two only if the run has labels."""
UNREAD = (FLAT, HEADINGS, TREE)
"""Systems that read no metadata: their results on degraded metadata are those on intact ones."""
ABLATIONS = {
    "baseline_hybrid": (FLAT, WHOLE, 0.0),
    "partition_only": (GROUPS, WHOLE, 0.0),
    "partition_raptor": (HARD, WHOLE, 0.0),
    "soft_no_novelty": (SOFT, WHOLE, 0.0),
    "full_system": (FULL, WHOLE, 0.0),
    "missing_10pct": (FULL, MISSING, 0.1),
    "missing_30pct": (FULL, MISSING, 0.3),
    "missing_50pct": (FULL, MISSING, 0.5),
    "noise_10pct": (FULL, NOISE, 0.1),
    "noise_30pct": (FULL, NOISE, 0.3),
}
"""The ablations of the design (meta-guided hierarchical RAG), each a system at a point."""


def cells_of(degrade: Mapping[str, Sequence[float]], draws: int) -> list[DegradedCell]:
    """Return the cells: intact metadata first, once, then every share once per draw."""
    wanted = [(degraded, share) for degraded, shares in degrade.items() for share in shares if share]
    return list(dict.fromkeys([DegradedCell(), *(DegradedCell(*one, draw) for one in wanted for draw in range(1, draws + 1))]))


def check_shares(degrade: Mapping[str, Sequence[float]], draws: int) -> None:
    """Validate the kinds of degradation, their shares and the number of draws; UsageError if one is invalid."""
    for degraded, shares in degrade.items():
        if degraded not in (MISSING, NOISE, *HOWS):
            remedy = f"take {MISSING}=0,.1,.3 or {NOISE}=0,.1,.3 for metadata; for strategies {', '.join(HOWS)}"
            raise UsageError(f"nothing can be degraded by {degraded!r}", remedy)
        for share in shares:
            if not 0 <= share <= 1:
                raise UsageError(f"--degrade {degraded}={share} is no share", "give numbers from 0 to 1, as in .1,.3,.5")
    if draws < 1:
        raise UsageError(f"documents cannot be drawn {draws} times", "give --draws 1 or more")


Keys = frozenset[tuple[str, ...]]
"""The groups of a document."""
_PLACES = 5


class TrueGroups:
    """The documents of a data set as they are, and their groups by some fields of metadata."""

    def __init__(self, dataset: Dataset, fields: Sequence[str]) -> None:
        self.documents = {str(document.id): document for document in DocumentStream(list(dataset.documents))}
        self._known = sorted({field for document in self.documents.values() for field in document.metadata})
        self._wanted = [binned(name, self._known) for name in fields]
        self.fields = tuple(one.field for one in self._wanted)
        self.groups = {id: self._keys(document.metadata) for id, document in self.documents.items()}

    def _keys(self, metadata: dict[str, Any]) -> Keys:
        return frozenset(key for key, _ in keys_of(tuple(one.values(metadata.get(one.field)) for one in self._wanted)))

    def check(self) -> None:
        """Check that some document has each field; UsageError if none has."""
        for field in self.fields:
            if field not in self._known:
                raise UsageError(
                    f"no document has the metadata {field!r} that could be degraded", f"group by what there is: {', '.join(self._known)}"
                )

    def wrong_group(self, found: Iterable[str], gold: Sequence[str]) -> float | None:
        """Return the share of the first five results that are from other groups than the gold's; None if it has no group."""
        own = self._of(gold)
        return sum(self._of([one]).isdisjoint(own) for one in list(found)[:_PLACES]) / _PLACES if own else None

    def filter(self, gold: Sequence[str]) -> dict[str, list[Any]] | None:
        """Return the filter that passes only the gold documents' groups; None if they have no group."""
        if not self._of(gold):
            return None
        return {one.field: self._alike(one, [id for id in gold if self.groups.get(id)]) for one in self._wanted}

    def _alike(self, one: Binned, documents: Sequence[str]) -> list[Any]:
        """Return the values of a field that put a document in the group of some others."""
        own = {value for id in documents for value in one.values(self.documents[id].metadata[one.field])}
        found = [document.metadata.get(one.field) for document in self.documents.values()]
        listed = [value for given in found for value in (given if isinstance(given, list) else [given])]
        every = dict.fromkeys(value for value in listed if isinstance(value, (str, int, float)))
        return [value for value in every if not own.isdisjoint(one.values(value))]

    def degraded(self, cell: DegradedCell, seed: int) -> list[Document]:
        """Return the documents affected by a cell, without their group's metadata or with another's; larger shares include smaller ones."""
        ids = sorted(self.documents)
        random.Random(f"{seed} {cell.draw}").shuffle(ids)
        met = [self.documents[id] for id in ids[: round(cell.share * len(ids))]]
        found = []
        for document in met:
            values = self._other(document, cell, seed) if cell.degraded == NOISE else {}
            kept = {name: value for name, value in document.metadata.items() if name not in self.fields}
            if (metadata := {**kept, **values}) != document.metadata:
                found.append(document.model_copy(update={"metadata": metadata}))
        return found

    def _other(self, document: Document, cell: DegradedCell, seed: int) -> dict[str, Any]:
        """Return the values of a random other group."""
        own = self.groups[str(document.id)]
        others = [values for keys, values in self._values.items() if keys != own]
        return random.Random(f"{seed} {cell.draw} {document.id}").choice(others) if others else {}

    @cached_property
    def _values(self) -> dict[Keys, dict[str, Any]]:
        """Return the values of each group, from one of its documents."""
        found: dict[Keys, dict[str, Any]] = {}
        for id, document in sorted(self.documents.items()):
            if keys := self.groups[id]:
                found.setdefault(keys, {field: document.metadata[field] for field in self.fields})
        return found

    def _of(self, documents: Sequence[str]) -> Keys:
        return frozenset().union(*(self.groups.get(id, frozenset()) for id in documents))
