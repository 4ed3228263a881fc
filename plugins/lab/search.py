"""Evaluate retrieval without a model, also on degraded metadata, and build the indexes of a run."""

import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ramify.kinds.building import build_graph, build_hierarchy
from ramify.kinds.hierarchy import hierarchy_file as of_hierarchy
from ramify.kinds.hierarchy.leaves import NO_FIELDS as UNGROUPED
from ramify.kinds.knowledge import graph_file as of_graph
from ramify.kinds.knowledge.build import REPLIES_FILE
from ramify.lab._degraded import SYSTEM_FIELD, SYSTEMS, DegradedCell, System, TrueGroups, list_cells
from ramify.lab._variants import (
    HIERARCHY_KIND,
    PLAIN_KIND,
    VIEW_SETTING,
    Variant,
    flatten_search_settings,
    format_value,
    index_folder,
    kind_search_options,
    kind_variant,
)
from ramify.lab.dataset import HitsBy, Question
from ramify.lab.plan import RERANK, RERANK_K, IndexedDataset, RunOptions, RunPlan, swept_search_settings
from ramify.lab.task import (
    EMPTY_FIELDS,
    EMPTY_RETRIEVAL,
    RESULTS,
    ResultLog,
    Row,
    read_outcomes,
    row_key,
    score_retrieval,
    task_fields,
)
from ramify.nodes.settings import Settings
from ramify.tools.embeddings import Encoder, load_encoder
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.folder import require_manifest, write_lock
from ramify.tools.index.index_store import update_documents
from ramify.tools.index.manifest import MANIFEST, STRUCTURE_FILES, IndexKind, Manifest, find_damage, read_index_manifest, split_version
from ramify.tools.index.passage_store import document_id
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.new_files import make_file, make_folder
from ramify.tools.passage import Passage
from ramify.tools.search.relevance import NO_RERANKER, load_reranker, rerank_passages, search_width
from ramify.tools.search.searcher import open_index

WRONG_GROUP = "wrong_group@5"
SEARCH_STRATEGY = "search"
"""The strategy name of rows that were only searched."""
MAX_RANK = 10


class SearchMethod(NamedTuple):
    """Search options, and the kind of index they are used with."""

    options: Mapping[str, Any]
    kind: IndexKind = PLAIN_KIND


FUSED_SEARCH: dict[str, Any] = {"mmr": None}
"""The default search of strategies: fused vector and full-text search."""
SEARCH_METHODS = {
    "dense": SearchMethod({"hybrid": False, "mmr": None}),
    "BM25": SearchMethod({"dense": False, "mmr": None}),
    "mmr=0.75": SearchMethod({"mmr": 0.75}),
    "dense, mmr=0.75": SearchMethod({"hybrid": False, "mmr": 0.75}),
}
"""Further methods of searching plain passages."""


def list_search_methods(options: RunOptions) -> dict[str, SearchMethod]:
    """Return the requested search methods by name: the default one for each kind of index, and all others for retrieval only.

    Rerankers and swept values are included. UsageError for an invalid setting.
    """
    first, settings = options.kinds[0], flatten_search_settings(options.options)
    methods = {"": _kind_search_method(first, settings)}
    further = {kind_variant(kind): _kind_search_method(kind, settings) for kind in options.kinds[1:]}
    if not options.retrieval_only:
        return {**methods, **further}
    swept = [
        (key, value)
        for key in options.sweeps
        if key in swept_search_settings(options) - {RERANK, RERANK_K}
        for value in options.sweeps[key]
    ]
    changed = {f"{key}={format_value(value)}": _kind_search_method(first, {**settings, key: value}) for key, value in swept}
    return {**methods, **SEARCH_METHODS, **_reranked_methods(first, settings, options.sweeps.get(RERANK, [])), **changed, **further}


def _kind_search_method(kind: IndexKind, options: Mapping[str, Any]) -> SearchMethod:
    """Return the default search method of a kind of index, with the options of its own search."""
    view = Settings.model_validate({VIEW_SETTING: options[VIEW_SETTING]}).view if VIEW_SETTING in options else "auto"
    kind_options = {} if kind == PLAIN_KIND else {"view": view, "options": kind_search_options(kind, options)}
    return SearchMethod({**FUSED_SEARCH, **kind_options}, kind)


def _reranked_methods(kind: IndexKind, options: Mapping[str, Any], swept: list[Any]) -> dict[str, SearchMethod]:
    settings = [_rerank_settings(options), *(_rerank_settings({**options, RERANK: value}) for value in swept)]
    how = _kind_search_method(kind, options).options
    return {
        f"{RERANK}={format_value(setting.rerank)}": SearchMethod({**how, RERANK: setting.rerank, "wide": setting.rerank_k}, kind)
        for setting in settings
        if setting.rerank != NO_RERANKER
    }


def _rerank_settings(options: Mapping[str, Any]) -> Settings:
    """Return the settings of reranking among the options of a run; UsageError for an invalid one."""
    return Settings.model_validate({key: options[key] for key in (RERANK, RERANK_K) if key in options})


def run_searches(plan: RunPlan, options: RunOptions) -> None:
    """Write the missing rows of searching without a model. Blocking."""
    methods = list_search_methods(options)
    with ResultLog(options.out / RESULTS) as log:
        outcomes = read_outcomes(options.out / RESULTS)
        for source in plan.sources:
            name, ids = source.dataset.name, [question.id for question in source.dataset.questions]
            missing = {
                name_of_method: how
                for name_of_method, how in methods.items()
                if not all(row_key(name, SEARCH_STRATEGY, name_of_method, question_id) in outcomes for question_id in ids)
            }
            if missing:
                log.write(row for row in search_dataset(plan, source, missing) if row["key"] not in outcomes)


def search_dataset(plan: RunPlan, source: IndexedDataset, methods: Mapping[str, SearchMethod]) -> list[Row]:
    """Return the rows of all questions of a data set with each search method. Blocking."""
    questions = source.dataset.questions
    texts = [question.question for question in questions]
    truth = TrueGroups(source.dataset, source.group_by) if source.group_by else None
    unasked = ("answer", "confidence", "confidence_source", "em", "f1", "containment", "official", "usage", "model")
    blank = {**EMPTY_FIELDS, **dict.fromkeys(unasked), "stopped_by": "finished", "error": None}
    rows = []
    for name, method in methods.items():
        search_options = {**({VIEW_SETTING: "flat"} if method.kind == PLAIN_KIND else {}), **method.options}
        rerank, wide = search_options.pop(RERANK, NO_RERANKER), search_options.pop("wide", MAX_RANK)
        load_reranker(rerank)
        results = open_index(source.index_location(method.kind)).search(texts, search_width(rerank, MAX_RANK, wide), **search_options)
        for question, passages in zip(questions, results, strict=True):
            task = plan.make_task(source, question, Variant(strategy=SEARCH_STRATEGY, name=name, kind=method.kind))
            scored = score_passages(question, rerank_passages(question.question, passages, rerank, MAX_RANK), task.hits_by, truth)
            rows.append({**task_fields(task), **blank, **scored})
    return rows


def score_passages(question: Question, passages: Sequence[Passage], hits_by: HitsBy, truth: TrueGroups | None) -> Row:
    """Return the retrieval scores of passages, with the share of passages from wrong groups if the true groups are known."""
    scores = score_retrieval(question, passages, hits_by)
    if scores["retrieval"] is not None and truth is not None:
        wrong = truth.wrong_group_share([document_id(passage.id) for passage in passages], question.gold_documents)
        scores["retrieval"] = {**scores["retrieval"], WRONG_GROUP: wrong}
    return scores


def update_indexes(plan: RunPlan, options: RunOptions, progress: Progress = ignore_progress) -> None:
    """Update the indexes of each data set in every requested kind; your own index is left unchanged."""
    for source in plan.sources:
        if source.dataset.index is not None:
            continue
        labels_by_location = {**({str(source.unlabelled): ()} if options.metadata_shares else {}), source.location: options.label}
        for place, label in labels_by_location.items():
            Index.build(
                list(source.dataset.documents), place, options.embedding,
                chunk_tokens=source.chunk_tokens, label=label, progress=progress, ray=options.ray,
            )  # fmt: skip
        for kind in options.kinds:
            update_index_kind(source.folder, kind, source.group_by, progress, source.build)


def update_index_kind(
    plain_index: Path, kind: IndexKind, group_by: Sequence[str], progress: Progress, build: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Update the index of another kind from the plain one; do nothing for the plain kind. Blocking.

    An interrupted build with `build` settings, which may call a model for hours, is resumed.
    """
    if kind == PLAIN_KIND:
        return
    folder = index_folder(plain_index, kind, group_by, build)
    with write_lock(plain_index):
        if not _is_current(folder, plain_index, kind, group_by):
            draft = folder.with_name(f"{folder.name}.part")
            try:
                if not (build and (draft / REPLIES_FILE).exists() and _has_same_passages(draft, plain_index)):
                    copy_index(plain_index, draft)
                if kind == HIERARCHY_KIND:  # from the passages alone; the previous index stays until this one is complete
                    build_hierarchy(draft, group_by=group_by or None, progress=progress)
                else:
                    build_graph(draft, build, progress=progress)
                shutil.rmtree(folder, ignore_errors=True)
                draft.replace(folder)
            finally:
                if not build:
                    shutil.rmtree(draft, ignore_errors=True)


def _has_same_passages(folder: Path, plain_index: Path) -> bool:
    manifest, expected = _read_index_manifest(folder), _read_index_manifest(plain_index)
    return manifest is not None and expected is not None and expected.sha256.items() <= manifest.sha256.items()


def _is_current(folder: Path, plain_index: Path, kind: IndexKind, group_by: Sequence[str]) -> bool:
    """Return whether an index is complete, has the passages of the plain one, and has the current format."""
    manifest = _read_index_manifest(folder)
    if manifest is None or manifest.kind != kind or not _has_same_passages(folder, plain_index):
        return False
    grouped = not group_by or manifest.group_by == list(group_by)
    [file] = STRUCTURE_FILES[kind]
    return grouped and find_damage(manifest, folder) is None and _has_current_edition(folder / manifest.file(file))


def _has_current_edition(path: Path) -> bool:
    """Return whether the additional file of an index has the current format."""
    if split_version(path.name)[0] == of_graph.GRAPH:
        return of_graph.read_facts(path).get("edition") == of_graph.EDITION
    try:
        return bool(of_hierarchy.read_hierarchy_file(path))
    except IndexingError:
        return False


def _read_index_manifest(folder: Path) -> Manifest | None:
    try:
        return read_index_manifest(folder / MANIFEST)
    except IndexingError:
        return None


def copy_index(plain_index: Path, folder: Path) -> None:
    """Copy a plain index, replacing the folder."""
    shutil.rmtree(folder, ignore_errors=True)
    make_folder(folder)
    for name in (*require_manifest(plain_index).sha256, MANIFEST):
        shutil.copyfile(plain_index / name, make_file(folder / name))


COPIES_FOLDER = "degraded"
"""Name of the folder for copies of the index, below the run's folder."""
CELL_SCORES = ("recall@10", "hits@1", "precision@5", "mrr@10", WRONG_GROUP)
"""The retrieval scores in the rows of degraded metadata."""


class DegradationContext(NamedTuple):
    """A data set with its true groups, the random seed, the encoder, the folder for copies of the index, and how passages are reranked."""

    source: IndexedDataset
    truth: TrueGroups
    seed: int
    encoder: Encoder
    folder: Path
    reranking: Settings


def run_degraded_searches(plan: RunPlan, options: RunOptions, progress: Progress = ignore_progress) -> None:
    """Write the missing rows of searching on degraded metadata, cell by cell, on copies of the index that are deleted afterwards.

    Blocking.
    """
    if not options.metadata_shares:
        return
    cells, folder = list_cells(options.metadata_shares, options.draws), options.out / COPIES_FOLDER
    reranking = _rerank_settings(options.options)
    load_reranker(reranking.rerank)
    try:
        with ResultLog(options.out / RESULTS) as log:
            outcomes = read_outcomes(options.out / RESULTS)
            for source in plan.sources:
                truth, encoder = TrueGroups(source.dataset, options.group_by), load_encoder(options.embedding)
                context = DegradationContext(source, truth, options.seed, encoder, folder, reranking)
                context.truth.check()
                for number, cell in enumerate(cells, 1):
                    for rows in _cell_rows(context, cell, bool(options.label), outcomes):
                        log.write(row for row in rows if row["key"] not in outcomes)
                    progress(number, len(cells), "cells")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cell_rows(context: DegradationContext, cell: DegradedCell, labels: bool, outcomes: Container[str]) -> Iterator[list[Row]]:
    """Yield the rows of each system of a cell with missing rows, grouped by index."""
    questions = context.source.dataset.questions
    systems = [
        name
        for name, system in SYSTEMS.items()
        if (labels or not system.labelled)
        and not (system.intact_only and cell.share)
        and any(_cell_key(context.source, name, cell, question) not in outcomes for question in questions)
    ]
    for (labelled, grouped), names in groupby(sorted(systems, key=_index_variant), _index_variant):
        copy_index(context.source.folder if labelled else context.source.unlabelled, context.folder)
        if changed := context.truth.degrade_documents(cell, context.seed):
            update_documents(context.folder, context.encoder, changed, context.source.unlabelled)
        build_hierarchy(context.folder, group_by=context.source.group_by if grouped else [UNGROUPED])
        index = open_index(context.folder)
        for name in names:
            yield [_cell_row(context, name, cell, *question_hits) for question_hits in _search_questions(context, index, SYSTEMS[name])]


def _index_variant(name: str) -> tuple[bool, bool]:
    """Return the index that a system searches: whether it has labels, and whether it is grouped."""
    return SYSTEMS[name].labelled, SYSTEMS[name].grouped


def _cell_key(source: IndexedDataset, name: str, cell: DegradedCell, question: Question) -> str:
    return row_key(source.dataset.name, SEARCH_STRATEGY, f"{name}, {cell.name}", question.id)


def _search_questions(context: DegradationContext, index: Index, system: System) -> Iterator[tuple[Question, list[Passage] | None]]:
    """Yield every question with its passages, reranked; None for an oracle on a question whose gold has no group."""
    rerank = context.reranking.rerank
    width = search_width(rerank, MAX_RANK, context.reranking.rerank_k)
    by_filter: dict[str, tuple[dict[str, Any] | None, list[Question]]] = {}
    for question in context.source.dataset.questions:
        where = context.truth.group_filter(question.gold_documents) if system.oracle else {}
        by_filter.setdefault(repr(where), (where, []))[1].append(question)
    view: Any = "flat" if system.options is None else "auto"
    for where, questions in by_filter.values():
        if where is None:
            yield from ((question, None) for question in questions)
        else:
            texts = [question.question for question in questions]
            results = index.search(texts, width, mmr=None, view=view, options=system.options, filter=where or None)
            for question, passages in zip(questions, results, strict=True):
                yield question, rerank_passages(question.question, passages, rerank, MAX_RANK)


def _cell_row(context: DegradationContext, name: str, cell: DegradedCell, question: Question, passages: list[Passage] | None) -> Row:
    """Return a row with few fields, because there are many rows."""
    source = context.source
    scores = EMPTY_RETRIEVAL if passages is None else score_passages(question, passages, source.dataset.hits_by, context.truth)
    scored = scores["retrieval"]
    return {
        **{"key": _cell_key(source, name, cell, question), "dataset": source.dataset.name, "strategy": SEARCH_STRATEGY},
        **{"variant": f"{name}, {cell.name}", SYSTEM_FIELD: name, **cell._asdict()},
        **{"id": question.id, "question": question.question, "type": question.type, "gold_documents": list(question.gold_documents)},
        **{
            "seed": context.seed,
            "error": None,
            "em": None,
            **scores,
            "retrieval": scored and {score: scored[score] for score in CELL_SCORES},
        },
    }
