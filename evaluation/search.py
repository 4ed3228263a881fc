"""Evaluate retrieval alone, also on degraded metadata; and the indexes that a run searches."""

import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ramify.evaluation.dataset import HitsBy, Question
from ramify.evaluation.degraded import SYSTEM, SYSTEMS, DegradedCell, System, TrueGroups, cells_of
from ramify.evaluation.plan import RERANK, RERANK_K, IndexedDataset, Order, RunPlan, swept_in_searching
from ramify.evaluation.task import NOT_SEARCHED, NOTHING, RESULTS, Log, Row, key_of, read_outcomes, retrieval, task_fields
from ramify.evaluation.variants import HIERARCHY, PLAIN, VIEW, Variant, flatten_search, folder_of, kind_variant, own_options, shown
from ramify.graphs.building import hierarchy, structure
from ramify.nodes.retrieve import passage_of
from ramify.nodes.settings import Settings
from ramify.tools.embeddings import Encoder, load_encoder
from ramify.tools.errors import IndexingError
from ramify.tools.hierarchy import hierarchy_file as of_hierarchy
from ramify.tools.hierarchy.leaves import NO_FIELDS as UNGROUPED
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import read_facts
from ramify.tools.index.index_store import update_documents
from ramify.tools.index.manifest import (
    MANIFEST,
    PASSAGES,
    POSTINGS_FILES,
    SLOTS,
    STRUCTURE_FILES,
    VECTORS,
    IndexKind,
    Manifest,
    read_index_manifest,
    write_lock,
)
from ramify.tools.index.passage_store import document_id
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.searcher import open_index
from ramify.tools.knowledge import graph_file as of_graph
from ramify.tools.knowledge.build import REPLIES_FILE
from ramify.tools.new_files import make_file, make_folder
from ramify.tools.relevance import NO_RERANKER, load_reranker, rerank_hits, search_width

WRONG_GROUP = "wrong_group@5"
SEARCH = "search"
"""The strategy name of these lines."""
DEEPEST = 10


class SearchMethod(NamedTuple):
    """Search options and a kind of index."""

    how: Mapping[str, Any]
    kind: IndexKind = PLAIN


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


def _way(kind: IndexKind, options: Mapping[str, Any]) -> SearchMethod:
    """Return the strategies' own search method, with the options of the kind's own search."""
    view = Settings.model_validate({VIEW: options[VIEW]}).view if VIEW in options else "auto"
    own = {} if kind == PLAIN else {"view": view, "options": own_options(kind, options)}
    return SearchMethod({**FUSED, **own}, kind)


def _reranked(kind: IndexKind, options: Mapping[str, Any], swept: list[Any]) -> dict[str, SearchMethod]:
    given = {key: options[key] for key in (RERANK, RERANK_K) if key in options}
    wanted = [Settings.model_validate(given), *(Settings.model_validate({**given, RERANK: value}) for value in swept)]
    how = _way(kind, options).how
    return {
        f"{RERANK}={one.rerank}": SearchMethod({**how, RERANK: one.rerank, "wide": one.rerank_k}, kind)
        for one in wanted
        if one.rerank != NO_RERANKER
    }


def search(plan: RunPlan, order: Order) -> None:
    """Write the missing lines of search without a model. Blocking."""
    ways = ways_of(order)
    with Log(order.out / RESULTS) as log:
        known = read_outcomes(order.out / RESULTS)
        for source in plan.sources:
            name, ids = source.dataset.name, [question.id for question in source.dataset.questions]
            missing = {way: how for way, how in ways.items() if not all(key_of(name, SEARCH, way, one) in known for one in ids)}
            if missing:
                log.write(row for row in search_all(plan, source, missing) if row["key"] not in known)


def search_all(plan: RunPlan, source: IndexedDataset, ways: Mapping[str, SearchMethod]) -> list[Row]:
    """Return the lines of every question of a data set with each search method. Blocking."""
    questions = source.dataset.questions
    asked = [question.question for question in questions]
    truth = TrueGroups(source.dataset, source.group_by) if source.group_by else None
    unasked = ("answer", "confidence", "confidence_source", "em", "f1", "containment", "official", "usage", "model")
    blank = {**NOTHING, **dict.fromkeys(unasked), "stopped_by": "finished", "error": None}
    rows = []
    for name, way in ways.items():
        how = {**({VIEW: "flat"} if way.kind == PLAIN else {}), **way.how}
        rerank, wide = how.pop(RERANK, NO_RERANKER), how.pop("wide", DEEPEST)
        load_reranker(rerank)
        found = open_index(source.holding(way.kind)).search(asked, search_width(rerank, DEEPEST, wide), **how)
        for question, hits in zip(questions, found, strict=True):
            task = plan.task_of(source, question, Variant(strategy=SEARCH, name=name, kind=way.kind))
            scored = scores_of(question, rerank_hits(question.question, hits, rerank, DEEPEST), task.hits_by, truth)
            rows.append({**task_fields(task), **blank, **scored})
    return rows


def scores_of(question: Question, hits: Sequence[Hit], hits_by: HitsBy, truth: TrueGroups | None) -> Row:
    """Return the retrieval scores of hits, with the share of them from a wrong group where the true groups are known."""
    told = retrieval(question, [passage_of(hit) for hit in hits], hits_by)
    if told["retrieval"] is not None and truth is not None:
        wrong = truth.wrong_group([document_id(str(hit.document.id)) for hit in hits], question.gold_documents)
        told["retrieval"] = {**told["retrieval"], WRONG_GROUP: wrong}
    return told


COPIED = (PASSAGES, VECTORS, SLOTS, MANIFEST)
EDITIONS: dict[IndexKind, str] = {"graph": of_graph.EDITION, HIERARCHY: of_hierarchy.EDITION}
"""The edition of the file that each kind has beside those of a plain index."""


def index(plan: RunPlan, order: Order, progress: Progress = ignore_progress) -> None:
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
    plain: Path, kind: IndexKind, group_by: Sequence[str], progress: Progress, build: Mapping[str, Any] = MappingProxyType({})
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
                if not (build and (draft / REPLIES_FILE).exists() and _has_passages_of(draft, plain)):
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


def _is_current(folder: Path, plain: Path, kind: IndexKind, group_by: Sequence[str]) -> bool:
    """Return whether an index is complete, has the passages of the plain one, and the current format."""
    held = _manifest(folder)
    if held is None or held.kind != kind or not _has_passages_of(folder, plain):
        return False
    grouped = not group_by or held.group_by == list(group_by)
    [file] = STRUCTURE_FILES[kind]
    return grouped and held.damage(folder) is None and read_facts(folder / file).get("edition") == EDITIONS[kind]


def _manifest(folder: Path) -> Manifest | None:
    try:
        return read_index_manifest(folder / MANIFEST)
    except IndexingError:
        return None


def copy_plain(plain: Path, folder: Path) -> None:
    """Copy a plain index, replacing the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    for name in (*COPIED, *POSTINGS_FILES):
        if name in COPIED or (plain / name).exists():
            shutil.copyfile(plain / name, make_file(folder / name))


COPY = "degraded"
"""Folder of the copies, in the run's folder."""
KEPT = ("recall@10", "hits@1", "precision@5", "mrr@10", WRONG_GROUP)
"""The retrieval scores that a line keeps."""


class Degrading(NamedTuple):
    """A data set with its true groups, the seed of what is drawn, the encoder, and where copies are made."""

    source: IndexedDataset
    truth: TrueGroups
    seed: int
    encoder: Encoder
    folder: Path


def degrade(plan: RunPlan, order: Order, progress: Progress = ignore_progress) -> None:
    """Write the missing lines of searching on degraded metadata, cell by cell, on copies of the index that are deleted afterwards.

    Blocking.
    """
    if not order.metadata_shares:
        return
    cells, folder = cells_of(order.metadata_shares, order.draws), order.out / COPY
    try:
        with Log(order.out / RESULTS) as log:
            known = read_outcomes(order.out / RESULTS)
            for source in plan.sources:
                one = Degrading(source, TrueGroups(source.dataset, order.group_by), order.seed, load_encoder(order.embedding), folder)
                one.truth.check()
                for number, cell in enumerate(cells, 1):
                    for rows in _cell_rows(one, cell, bool(order.label), known):
                        log.write(row for row in rows if row["key"] not in known)
                    progress(number, len(cells), "cells")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cell_rows(one: Degrading, cell: DegradedCell, labels: bool, known: Container[str]) -> Iterator[list[Row]]:
    """Yield the lines of each system of a cell that lacks some, grouped by index."""
    questions = one.source.dataset.questions
    systems = [
        name
        for name, system in SYSTEMS.items()
        if (labels or not system.labelled)
        and not (system.once and cell.share)
        and any(_cell_key(one.source, name, cell, asked) not in known for asked in questions)
    ]
    for (labelled, grouped), names in groupby(sorted(systems, key=_index_of), _index_of):
        copy_plain(one.source.folder if labelled else one.source.bare, one.folder)
        if changed := one.truth.degraded(cell, one.seed):
            update_documents(one.folder, one.encoder, changed, one.source.bare)
        hierarchy(one.folder, group_by=one.source.group_by if grouped else [UNGROUPED])
        index = open_index(one.folder)
        for name in names:
            yield [_cell_row(one, name, cell, *found) for found in _found(one, index, SYSTEMS[name])]


def _index_of(name: str) -> tuple[bool, bool]:
    """Return which index a system searches: whether it has labels, and whether it is grouped."""
    return SYSTEMS[name].labelled, SYSTEMS[name].grouped


def _cell_key(source: IndexedDataset, name: str, cell: DegradedCell, question: Question) -> str:
    return key_of(source.dataset.name, SEARCH, f"{name}, {cell.name}", question.id)


def _found(one: Degrading, index: Index, system: System) -> Iterator[tuple[Question, list[Hit] | None]]:
    """Yield every question with its hits; None for an oracle filter on a question whose gold has no group."""
    by_filter: dict[str, tuple[dict[str, Any] | None, list[Question]]] = {}
    for question in one.source.dataset.questions:
        where = one.truth.filter(question.gold_documents) if system.known else {}
        by_filter.setdefault(repr(where), (where, []))[1].append(question)
    view: Any = "flat" if system.options is None else "auto"
    for where, questions in by_filter.values():
        if where is None:
            yield from ((question, None) for question in questions)
        else:
            asked = [question.question for question in questions]
            hits = index.search(asked, DEEPEST, mmr=None, view=view, options=system.options, filter=where or None)
            yield from zip(questions, hits, strict=True)


def _cell_row(one: Degrading, name: str, cell: DegradedCell, question: Question, hits: list[Hit] | None) -> Row:
    """Return a line, with few fields because there are many lines."""
    source = one.source
    told = NOT_SEARCHED if hits is None else scores_of(question, hits, source.dataset.hits_by, one.truth)
    scored = told["retrieval"]
    return {
        **{"key": _cell_key(source, name, cell, question), "dataset": source.dataset.name, "strategy": SEARCH},
        **{"variant": f"{name}, {cell.name}", SYSTEM: name, **cell._asdict()},
        **{"id": question.id, "question": question.question, "type": question.type, "gold_documents": list(question.gold_documents)},
        **{"seed": one.seed, "error": None, "em": None, **told, "retrieval": scored and {score: scored[score] for score in KEPT}},
    }
