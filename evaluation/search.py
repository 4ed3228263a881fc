"""Evaluate retrieval alone; and the index that a run searches."""

import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from langchain_core.documents import Document

from ramify.evaluation._degraded_cells import NOISE, DegradedCell
from ramify.evaluation._scoring import retrieval
from ramify.evaluation.dataset import Dataset, Question
from ramify.evaluation.plan import RERANK, RERANK_K, IndexedDataset, Order, RunPlan, swept_in_searching
from ramify.evaluation.task import NOTHING, RESULTS, Log, Row, Task, Watch, key_of, read_outcomes, task_fields
from ramify.evaluation.variants import HIERARCHY, PLAIN, VIEW, Variant, flatten_search, folder_of, kind_variant, own_options, shown
from ramify.graphs.building import hierarchy, structure
from ramify.nodes.retrieve import passage_of
from ramify.nodes.settings import Settings
from ramify.tools.documents.load import Loading
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.hierarchy import hierarchy_file as of_hierarchy
from ramify.tools.hierarchy.leaves import Binned, binned
from ramify.tools.hierarchy.partition import keys_of
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import read_facts
from ramify.tools.index.manifest import MANIFEST, PASSAGES, SLOTS, STRUCTURE, VECTORS, WORDS, Kind, Manifest, read_manifest, write_lock
from ramify.tools.index.passage_store import document_of
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.searcher import opened
from ramify.tools.knowledge import graph_file as of_graph
from ramify.tools.knowledge.build import WORK
from ramify.tools.new_files import make_file, make_folder
from ramify.tools.relevance import NONE, load, reranked, width

Keys = frozenset[tuple[str, ...]]
WRONG_GROUP = "wrong_group@5"
_PLACES = 5


class TrueGroups:
    """The documents of a data set as they are, and their groups by some fields of metadata."""

    def __init__(self, dataset: Dataset, fields: Sequence[str]) -> None:
        self.documents = {str(document.id): document for document in Loading(list(dataset.documents))}
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
        every = dict.fromkeys(value for document in self.documents.values() for value in _listed(document.metadata.get(one.field)))
        return [value for value in every if not own.isdisjoint(one.values(value))]

    def degraded(self, cell: DegradedCell, seed: int) -> list[Document]:
        """Return the documents affected by a cell, without their group's metadata or with another's; larger shares include smaller ones."""
        ids = sorted(self.documents)
        random.Random(f"{seed} {cell.draw}").shuffle(ids)
        met = [self.documents[id] for id in ids[: round(cell.share * len(ids))]]
        found = [self._changed(document, self._other(document, cell, seed) if cell.degraded == NOISE else {}) for document in met]
        return [new for old, new in zip(met, found, strict=True) if new.metadata != old.metadata]

    def _changed(self, document: Document, values: dict[str, Any]) -> Document:
        kept = {name: value for name, value in document.metadata.items() if name not in self.fields}
        return document.model_copy(update={"metadata": {**kept, **values}})

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


def _listed(value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, (str, int, float))]


SEARCH = "search"
"""The strategy name of these lines."""
DEEPEST = 10


class SearchMethod(NamedTuple):
    """Search options and a kind of index."""

    how: Mapping[str, Any]
    kind: Kind = PLAIN


FUSED: dict[str, Any] = {"mmr": None}
"""What the strategies do: vectors and words fused."""
WAYS = {
    "dense": SearchMethod({"hybrid": False, "mmr": None}),
    "BM25": SearchMethod({"dense": False, "mmr": None}),
    "mmr=0.75": SearchMethod({"mmr": 0.75}),
    "dense, mmr=0.75": SearchMethod({"hybrid": False, "mmr": 0.75}),
}
"""Other ways to search plain passages."""


def ways_of(order: Order) -> dict[str, SearchMethod]:
    """Return the requested search methods: the strategies' own in each kind of index, or all of them for retrieval only.

    Named rerankers and swept values are included. UsageError for an invalid setting.
    """
    first, given = order.kinds[0], flatten_search(order.options)
    own = {"": _way(first, given)}
    further = {kind_variant(kind): _way(kind, given) for kind in order.kinds[1:]}
    if not order.retrieval_only:
        return {**own, **further}
    swept = [(key, value) for key in order.sweeps if key in swept_in_searching(order) - {RERANK, RERANK_K} for value in order.sweeps[key]]
    changed = {f"{key}={shown(value)}": _way(first, {**given, key: value}) for key, value in swept}
    return {**own, **WAYS, **_reranked(first, given, order.sweeps.get(RERANK, [])), **changed, **further}


def _way(kind: Kind, options: Mapping[str, Any]) -> SearchMethod:
    """Return the strategies' own search method, with the options of the kind's own search."""
    view = Settings.model_validate({VIEW: options[VIEW]}).view if VIEW in options else "auto"
    own = {} if kind == PLAIN else {"view": view, "options": own_options(kind, options)}
    return SearchMethod({**FUSED, **own}, kind)


def _reranked(kind: Kind, options: Mapping[str, Any], swept: list[Any]) -> dict[str, SearchMethod]:
    given = {key: options[key] for key in (RERANK, RERANK_K) if key in options}
    wanted = [Settings.model_validate(given), *(Settings.model_validate({**given, RERANK: value}) for value in swept)]
    how = _way(kind, options).how
    return {
        f"{RERANK}={one.rerank}": SearchMethod({**how, RERANK: one.rerank, "wide": one.rerank_k}, kind)
        for one in wanted
        if one.rerank != NONE
    }


def search(plan: RunPlan, order: Order, watch: Watch) -> None:
    """Write the missing lines of search without a model. Blocking."""
    ways = ways_of(order)
    with Log(order.out / RESULTS) as log:
        known = read_outcomes(order.out / RESULTS)
        for source in plan.sources:
            name, ids = source.dataset.name, [question.id for question in source.dataset.questions]
            missing = {way: how for way, how in ways.items() if not all(key_of(name, SEARCH, way, one) in known for one in ids)}
            if missing:
                fresh = [row for row in search_all(plan, source, missing) if row["key"] not in known]
                log.write(fresh)
                for row in fresh:
                    watch(row)


def search_all(plan: RunPlan, source: IndexedDataset, ways: Mapping[str, SearchMethod]) -> list[Row]:
    """Return the lines of every question of a data set with each search method. Blocking."""
    questions = source.dataset.questions
    truth = TrueGroups(source.dataset, source.group_by) if source.group_by else None
    rows = []
    for name, way in ways.items():
        index = opened(source.holding(way.kind))
        plain: dict[str, Any] = {VIEW: "flat"} if way.kind == PLAIN else {}
        found = _found(index, [question.question for question in questions], **plain, **way.how)
        for question, hits in zip(questions, found, strict=True):
            task = plan.task_of(source, question, Variant(strategy=SEARCH, name=name, kind=way.kind))
            told = retrieval(question, [passage_of(hit) for hit in hits], task.hits_by)
            rows.append(_row(task, told if truth is None else with_groups(told, truth, question, hits)))
    return rows


def _found(index: Index, asked: list[str], rerank: str = NONE, wide: int = DEEPEST, **how: Any) -> list[list[Hit]]:
    load(rerank)
    found = index.search(asked, width(rerank, DEEPEST, wide), **how)
    return [reranked(*one, rerank, DEEPEST) for one in zip(asked, found, strict=True)]


def with_groups(told: dict[str, Any], truth: TrueGroups, question: Question, hits: Sequence[Hit]) -> dict[str, Any]:
    """Add the share of results from a wrong group to the retrieval scores."""
    if told["retrieval"] is None:
        return told
    wrong = truth.wrong_group([document_of(str(hit.document.id)) for hit in hits], question.gold_documents)
    return {**told, "retrieval": {**told["retrieval"], WRONG_GROUP: wrong}}


def _row(task: Task, found: dict[str, Any]) -> Row:
    """Return a line without an answer, with retrieval scores only."""
    unasked = ("answer", "confidence", "confidence_source", "em", "f1", "containment", "official", "usage", "model")
    blank = {**NOTHING, **dict.fromkeys(unasked), "stopped_by": "finished", "error": None}
    return {**task_fields(task), **blank, **found}


COPIED = (PASSAGES, VECTORS, SLOTS, MANIFEST)
EDITIONS: dict[Kind, str] = {"graph": of_graph.EDITION, HIERARCHY: of_hierarchy.EDITION}
"""The edition of the file that each kind has beside those of a plain index."""


def index(plan: RunPlan, order: Order, progress: Progress = silent) -> None:
    """Update the index of each data set in every requested kind; one of your own stays as it is."""
    for source in plan.sources:
        if source.dataset.index is not None:
            continue
        wanted = {**({str(source.bare): ()} if order.metadata_shares else {}), source.place: order.label}
        for place, label in wanted.items():
            Index.build(
                list(source.dataset.documents), place, order.embedding,
                chunk_tokens=source.chunk_tokens, label=label, progress=progress, ray=order.ray,
            )  # fmt: skip
        for kind in order.kinds:
            update_kind(source.folder, kind, source.group_by, progress, source.build)


def update_kind(
    plain: Path, kind: Kind, group_by: Sequence[str], progress: Progress, build: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Update the index of another kind from the plain one beside it; do nothing for the plain kind. Blocking.

    An interrupted build with settings of its own, which may ask a model for hours, goes on where it stopped.
    """
    if kind == PLAIN:
        return
    folder = folder_of(plain, kind, group_by, build)
    with write_lock(plain):
        if not _is_current(folder, plain, kind, group_by):
            draft = folder.with_name(f"{folder.name}.part")
            try:
                if not (build and (draft / WORK).exists() and _has_passages_of(draft, plain)):
                    copy_plain(plain, draft)
                if kind == HIERARCHY:  # from the passages alone; the former index stays until this one is complete
                    hierarchy(draft, group_by=group_by or None, progress=progress)
                else:
                    structure(draft, build, progress=progress)
                shutil.rmtree(folder, ignore_errors=True)
                draft.replace(folder)
            finally:
                if not build:
                    shutil.rmtree(draft, ignore_errors=True)


def _has_passages_of(folder: Path, plain: Path) -> bool:
    held, wanted = _manifest(folder), _manifest(plain)
    return held is not None and wanted is not None and all(held.sha256[name] == sha256 for name, sha256 in wanted.sha256.items())


def _is_current(folder: Path, plain: Path, kind: Kind, group_by: Sequence[str]) -> bool:
    """Return whether an index is complete, has the passages of the plain one, and the current format."""
    held = _manifest(folder)
    if held is None or held.kind != kind or not _has_passages_of(folder, plain):
        return False
    grouped = not group_by or held.group_by == list(group_by)
    [file] = STRUCTURE[kind]
    return grouped and held.damage(folder) is None and read_facts(folder / file).get("edition") == EDITIONS[kind]


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder / MANIFEST)
    except IndexingError:
        return None


def copy_plain(plain: Path, folder: Path) -> None:
    """Copy a plain index, replacing the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    for name in (*COPIED, *WORDS):
        if name in COPIED or (plain / name).exists():
            shutil.copyfile(plain / name, make_file(folder / name))
