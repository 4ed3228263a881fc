"""Robustness tests: degraded questions, searches and metadata.

The degradation of questions and searches (left open by PruneRAG) depends only on the seed, the question and the degraded item: compared
strategies get the same degradation, and a larger share includes a smaller one. Metadata are degraded in cells: in each, a random share of
the documents is affected, and several systems are measured.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from langchain_core.documents import Document

from ramify.kinds.hierarchy.leaves import BinnedField, parse_field
from ramify.kinds.hierarchy.partition import group_keys
from ramify.lab.dataset import Dataset, Question
from ramify.nodes.tree import FrozenModel, Passage
from ramify.tools.documents.load import DocumentStream
from ramify.tools.english import ENGLISH_STOP_WORDS, find_names, fold, strip_disambiguation
from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.index import iterate_passages
from ramify.tools.search.searcher import open_index

DegradationKind = Literal["entities", "lookups", "retriever", "distractors", "paraphrase"]
DEGRADATION_HELP: dict[DegradationKind, str] = {
    "entities": "names in sub-questions and look-ups that are searched as another name of the corpus",
    "lookups": "names looked up by themselves (of `prune`) that are searched as another name of the corpus",
    "retriever": "passages found that are replaced by lower-ranked ones",
    "distractors": "passages found that are replaced by look-alikes from other documents",
    "paraphrase": "content words of the question that are replaced by a synonym, or else exchanged with the next word",
}
"""What each kind of degradation affects a share of."""
DEGRADATION_KINDS: tuple[DegradationKind, ...] = get_args(DegradationKind)
_LOOK_ALIKE_CANDIDATES = 10
"""Number of passages from which a look-alike is chosen."""
_MMR_CANDIDATES = 4
"""Candidates of MMR per requested passage (`fetch_k`)."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_SYNONYM_PAIRS = """
film movie, city town, country nation, author writer, founder creator, located situated, invented devised, founded established,
spouse partner, father dad, mother mum, child kid, album record, song track, singer vocalist, band group, company firm,
actor performer, older elder, oldest eldest, earlier sooner, built constructed, largest biggest, large big, small little,
prize award, war conflict, started began, ended finished, work opus, place location, wrote penned, made produced,
released issued, died perished, lived resided, river stream, castle fortress, church chapel, language tongue,
college university, street road, job profession, picture painting, nationality citizenship, same identical, team side,
series show, famous renowned, name title, called named
"""
_SYNONYMS = {
    word: other for left, right in (pair.split() for pair in _SYNONYM_PAIRS.split(",")) for word, other in ((left, right), (right, left))
}  # fmt: skip


class Degradation(FrozenModel):
    """A kind of degradation, and the affected share in [0, 1]."""

    kind: DegradationKind
    share: float


def degrade_question(question: Question, index: str, degradation: Degradation, seed: int) -> tuple[str, str | Index]:
    """Return the question and the index to search, one of them degraded. Blocking."""
    if degradation.kind == "paraphrase":
        return paraphrase(question.question, degradation.share, f"{seed}|{question.id}"), index
    return question.question, DegradedIndex(open_index(index), question, degradation, seed)


def is_drawn(share: float, *drawn_for: object) -> bool:
    """Return whether an item, identified by `drawn_for`, belongs to the random share."""
    return random.Random("|".join(map(str, drawn_for))).random() < share


def paraphrase(question: str, share: float, seed: str) -> str:
    """Return a question with a share of its content words replaced by synonyms or swapped; names stay unchanged and in place."""
    parts = _WORD.split(question)
    words = _WORD.findall(question)
    name_words = {part for name in find_names(question) for part in _WORD.findall(name)}
    for place, word in enumerate(list(words)):
        if (
            words[place] != word
            or word in name_words
            or fold(word) in ENGLISH_STOP_WORDS
            or not is_drawn(share, seed, "paraphrase", place, word)
        ):
            continue
        follower = words[place + 1] if place + 1 < len(words) else ""
        if (other := _SYNONYMS.get(word.casefold())) is not None:
            words[place] = other.capitalize() if word[0].isupper() else other
        elif follower and follower not in name_words:
            words[place], words[place + 1] = follower, word
    return "".join(text for pair in zip(parts, [*words, ""], strict=True) for text in pair)


class DegradedIndex(Index):
    """An index whose search is degraded for one question."""

    def __init__(self, index: Index, question: Question, degradation: Degradation, seed: int) -> None:
        self.__dict__.update(index.__dict__)  # everything but the search is shared with that index
        self._base, self._question, self._degradation, self._seed_parts = (
            index,
            question,
            degradation,
            (seed, question.id, degradation.kind),
        )

    def search(self, queries: Sequence[str], k: int = 5, **options: Any) -> list[list[Passage]]:  # type: ignore[override]
        """Return the degraded results of `Index.search`."""
        if self._degradation.kind in ("entities", "lookups"):
            return self._base.search([self._replace_names(query) for query in queries], k, **options)
        if self._degradation.kind == "distractors":
            return [self._replace_with_look_alikes(hits, options) for hits in self._base.search(queries, k, **options)]
        options["fetch_k"] = options.get("fetch_k") or _MMR_CANDIDATES * k  # so that the first k results stay the same
        results = self._base.search(queries, 2 * k, **options)
        return [([hit for hit in hits[:k] if not self._is_drawn(hit)] + hits[k:])[:k] for hits in results]

    def _is_drawn(self, passage: Passage) -> bool:
        return is_drawn(self._degradation.share, *self._seed_parts, passage.id)

    @cached_property
    def _names(self) -> list[str]:
        """Return the names of the corpus: the titles of its documents, sorted."""
        titles = (passage.title for passage in iterate_passages(self._base, self._base.ids()))
        return sorted({bare for title in titles if (bare := strip_disambiguation(title))})

    def _replace_names(self, query: str) -> str:
        """Return a sub-question or a look-up, or only a look-up, with a share of its names replaced; the original question is unchanged."""
        names = find_names(query)
        is_lookup = fold(query) in map(fold, names)
        if fold(query) == fold(self._question.question) or (self._degradation.kind == "lookups" and not is_lookup):
            return query
        for name in names:
            if is_drawn(self._degradation.share, *self._seed_parts, fold(name)) and (
                others := [other for other in self._names if fold(other) != fold(name)]
            ):
                query = query.replace(name, random.Random("|".join(map(str, (*self._seed_parts, "name", fold(name))))).choice(others))
        return query

    def _replace_with_look_alikes(self, hits: list[Passage], options: dict[str, Any]) -> list[Passage]:
        """Replace a share of the passages by the most similar ones of other documents, with the scores of the replaced passages."""
        places = [place for place, hit in enumerate(hits) if self._is_drawn(hit)]
        texts = [hits[place].text for place in places]
        like = self._base.search(texts, _LOOK_ALIKE_CANDIDATES, hybrid=False, filter=options.get("filter"), view="flat")
        taken, replaced = {hit.id for hit in hits}, list(hits)
        for place, candidates in zip(places, like, strict=True):
            before = hits[place]
            other = next((candidate for candidate in candidates if candidate.source != before.source and candidate.id not in taken), None)
            if other is not None:
                taken.add(other.id)
                replaced[place] = other.model_copy(update=before.model_dump(include={"score", "value", "collection"}))
        return replaced


MISSING, NOISE = "missing", "noise"
INTACT = "none"
"""The value of `degraded` for intact metadata."""
SYSTEM_FIELD = "system"
"""A field that only the lines of degraded metadata have."""


class DegradedCell(NamedTuple):
    """A kind of degradation, the share of documents affected, and the number of the random draw."""

    degraded: str = INTACT
    share: float = 0.0
    draw: int = 1

    @property
    def name(self) -> str:
        """Return the variant name of its lines."""
        return f"{self.degraded}={self.share:g}, draw {self.draw}" if self.share else "clean"


class System(NamedTuple):
    """A search configuration and its index: with or without labels, and grouped or with one tree over all passages."""

    description: str
    """Description for the report."""
    options: Mapping[str, Any] | None = None
    """Options of the hierarchy search; None for flat search."""
    labelled: bool = False
    grouped: bool = True
    oracle: bool = False
    """Whether it searches only documents with the true metadata of the gold documents."""
    intact_only: bool = False
    """Whether it is measured on intact metadata only."""


FLAT_SYSTEM, HEADINGS_SYSTEM, FILTER_SYSTEM, TREE_SYSTEM, FULL_SYSTEM = "flat", "flat + headings", "hard filter", "global RAPTOR", "full"
GROUPS_SYSTEM, HARD_SYSTEM, SOFT_SYSTEM = "meta + flat", "meta + RAPTOR, hard", "soft, no novelty"
LABEL_SYSTEM, FULL_LABEL_SYSTEM = "label", "full + label"
SYSTEMS = {
    FLAT_SYSTEM: System("vectors and words, without groups or trees; reads no metadata", intact_only=True),
    HEADINGS_SYSTEM: System(
        "flat, and a passage gains whose heading the question names, as in all systems below but the filter and labels alone",
        {"summaries": 0, "fallback": 1},
        grouped=False,
        intact_only=True,
    ),
    FILTER_SYSTEM: System(
        "an oracle: flat search among the documents that have the gold's true metadata; questions whose gold has none are left out",
        oracle=True,
    ),
    TREE_SYSTEM: System("one tree of summaries over everything (--group-by none); reads no metadata", {}, grouped=False, intact_only=True),
    GROUPS_SYSTEM: System(
        "groups by metadata, no trees: what is in no likely group is not found", {"members": "primary", "summaries": 0, "fallback": 0}
    ),
    HARD_SYSTEM: System("groups by metadata, each with its tree", {"members": "primary", "fallback": 0}),
    SOFT_SYSTEM: System(
        "what lacks metadata belongs to the groups it is like; nothing is founded, moved or left to the pool", {"members": "soft"}
    ),
    FULL_SYSTEM: System("all memberships, and what is in no likely group still counts a little", {}),
    "full, headings=0": System("without what a passage gains whose heading the question names", {"headings": 0}, intact_only=True),
    LABEL_SYSTEM: System("flat search in passages embedded under these metadata", labelled=True),
    FULL_LABEL_SYSTEM: System("both at once", {}, labelled=True),
}
"""All systems, from the simplest on; the last two only if the run has labels."""
METADATA_FREE_SYSTEMS = (FLAT_SYSTEM, HEADINGS_SYSTEM, TREE_SYSTEM)
"""Systems that do not read metadata: degraded metadata do not change their results."""
SYSTEM_ABLATIONS = {
    "baseline_hybrid": (FLAT_SYSTEM, INTACT, 0.0),
    "partition_only": (GROUPS_SYSTEM, INTACT, 0.0),
    "partition_raptor": (HARD_SYSTEM, INTACT, 0.0),
    "soft_no_novelty": (SOFT_SYSTEM, INTACT, 0.0),
    "full_system": (FULL_SYSTEM, INTACT, 0.0),
    "missing_10pct": (FULL_SYSTEM, MISSING, 0.1),
    "missing_30pct": (FULL_SYSTEM, MISSING, 0.3),
    "missing_50pct": (FULL_SYSTEM, MISSING, 0.5),
    "noise_10pct": (FULL_SYSTEM, NOISE, 0.1),
    "noise_30pct": (FULL_SYSTEM, NOISE, 0.3),
}
"""The ablations of the design (meta-guided hierarchical RAG), each a system at a point."""


def list_cells(degrade: Mapping[str, Sequence[float]], draws: int) -> list[DegradedCell]:
    """Return the cells: intact metadata first, then each share once per draw."""
    shares_by_kind = [(degraded, share) for degraded, shares in degrade.items() for share in shares if share]
    return list(dict.fromkeys([DegradedCell(), *(DegradedCell(*pair, draw) for pair in shares_by_kind for draw in range(1, draws + 1))]))


def check_shares(degrade: Mapping[str, Sequence[float]], draws: int) -> None:
    """Validate the kinds of degradation, their shares and the number of draws; UsageError if one is invalid."""
    for degraded, shares in degrade.items():
        if degraded not in (MISSING, NOISE, *DEGRADATION_KINDS):
            remedy = f"use {MISSING}=0,.1,.3 or {NOISE}=0,.1,.3 for metadata; for strategies {', '.join(DEGRADATION_KINDS)}"
            raise UsageError(f"there is no kind of degradation {degraded!r}", remedy)
        for share in shares:
            if not 0 <= share <= 1:
                raise UsageError(f"--degrade {degraded}={share} is not a fraction between 0 and 1", "give fractions, as in .1,.3,.5")
    if draws < 1:
        raise UsageError(f"--draws {draws} is less than 1", "give --draws 1 or more")


GroupKeys = frozenset[tuple[str, ...]]
"""The keys of the groups that a document belongs to."""
_TOP_K = 5


class TrueGroups:
    """The unchanged documents of a data set, and their groups by some fields of metadata."""

    def __init__(self, dataset: Dataset, fields: Sequence[str]) -> None:
        self.documents = {str(document.id): document for document in DocumentStream(list(dataset.documents))}
        self._known = sorted({field for document in self.documents.values() for field in document.metadata})
        self._wanted = [parse_field(name, self._known) for name in fields]
        self.fields = tuple(binned.field for binned in self._wanted)
        self.groups = {id: self._group_keys(document.metadata) for id, document in self.documents.items()}

    def _group_keys(self, metadata: dict[str, Any]) -> GroupKeys:
        return frozenset(key for key, _ in group_keys(tuple(binned.values(metadata.get(binned.field)) for binned in self._wanted)))

    def check(self) -> None:
        """Raise UsageError if no document has one of the fields."""
        for field in self.fields:
            if field not in self._known:
                raise UsageError(
                    f"no document has the metadata field {field!r}, which is to be degraded", f"group by one of {', '.join(self._known)}"
                )

    def wrong_group_share(self, retrieved: Iterable[str], gold: Sequence[str]) -> float | None:
        """Return the share of the first five results that are not in a group of the gold documents; None if these have no group."""
        gold_groups = self._groups_of(gold)
        return sum(self._groups_of([hit]).isdisjoint(gold_groups) for hit in list(retrieved)[:_TOP_K]) / _TOP_K if gold_groups else None

    def group_filter(self, gold: Sequence[str]) -> dict[str, list[Any]] | None:
        """Return a metadata filter for the groups of the gold documents; None if they have no group."""
        if not self._groups_of(gold):
            return None
        return {binned.field: self._equivalent_values(binned, [id for id in gold if self.groups.get(id)]) for binned in self._wanted}

    def _equivalent_values(self, binned: BinnedField, documents: Sequence[str]) -> list[Any]:
        """Return the values of a field that belong to the same group as the values of the given documents."""
        gold_values = {value for id in documents for value in binned.values(self.documents[id].metadata[binned.field])}
        field_values = [document.metadata.get(binned.field) for document in self.documents.values()]
        flat_values = [value for field_value in field_values for value in (field_value if isinstance(field_value, list) else [field_value])]
        every = dict.fromkeys(value for value in flat_values if isinstance(value, (str, int, float)))
        return [value for value in every if not gold_values.isdisjoint(binned.values(value))]

    def degrade_documents(self, cell: DegradedCell, seed: int) -> list[Document]:
        """Return the documents affected by a cell, with their metadata removed or replaced; larger shares include smaller ones."""
        ids = sorted(self.documents)
        random.Random(f"{seed} {cell.draw}").shuffle(ids)
        affected = [self.documents[id] for id in ids[: round(cell.share * len(ids))]]
        changed = []
        for document in affected:
            values = self._other_group_values(document, cell, seed) if cell.degraded == NOISE else {}
            other_metadata = {name: value for name, value in document.metadata.items() if name not in self.fields}
            if (metadata := {**other_metadata, **values}) != document.metadata:
                changed.append(document.model_copy(update={"metadata": metadata}))
        return changed

    def _other_group_values(self, document: Document, cell: DegradedCell, seed: int) -> dict[str, Any]:
        """Return the field values of a random other group."""
        groups = self.groups[str(document.id)]
        others = [values for keys, values in self._group_values.items() if keys != groups]
        return random.Random(f"{seed} {cell.draw} {document.id}").choice(others) if others else {}

    @cached_property
    def _group_values(self) -> dict[GroupKeys, dict[str, Any]]:
        """Return the field values of each group, from one of its documents."""
        values: dict[GroupKeys, dict[str, Any]] = {}
        for id, document in sorted(self.documents.items()):
            if keys := self.groups[id]:
                values.setdefault(keys, {field: document.metadata[field] for field in self.fields})
        return values

    def _groups_of(self, documents: Sequence[str]) -> GroupKeys:
        return frozenset().union(*(self.groups.get(id, frozenset()) for id in documents))
