"""Measure search on degraded metadata, cell by cell, on temporary copies of the index."""

import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ramify.evaluation._degraded_cells import SYSTEM, SYSTEMS, DegradedCell, System, cells_of, systems_in
from ramify.evaluation._scoring import NOT_SEARCHED, retrieval
from ramify.evaluation.dataset import Question
from ramify.evaluation.plan import IndexedDataset, Order, RunPlan
from ramify.evaluation.search import DEEPEST, SEARCH, WRONG_GROUP, TrueGroups, copy_plain, with_groups
from ramify.evaluation.task import RESULTS, Log, Row, key_of, read_outcomes
from ramify.graphs.building import hierarchy
from ramify.nodes.retrieve import passage_of
from ramify.tools.embeddings import Encoder, load_encoder
from ramify.tools.hierarchy.leaves import NONE
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index_store import amend
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.searcher import opened

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


def degrade(plan: RunPlan, order: Order, progress: Progress = silent) -> None:
    """Write the missing lines of every cell. Blocking; the copies of the index are deleted afterwards."""
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
                    for rows in _rows(one, cell, bool(order.label), known):
                        log.write(row for row in rows if row["key"] not in known)
                    progress(number, len(cells), "cells")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _rows(one: Degrading, cell: DegradedCell, labels: bool, known: Container[str]) -> Iterator[list[Row]]:
    """Yield the lines of each system of a cell that lacks some, grouped by index."""
    questions = one.source.dataset.questions
    systems = [name for name in systems_in(cell, labels) if any(_key(one.source, name, cell, asked) not in known for asked in questions)]
    for (labelled, grouped), names in groupby(sorted(systems, key=_index_of), _index_of):
        index = _made(one, cell, labelled, grouped)
        for name in names:
            yield [_row(one, name, cell, *found) for found in _found(one, index, SYSTEMS[name])]


def _index_of(name: str) -> tuple[bool, bool]:
    """Return which index a system searches: whether it has labels, and whether it is grouped."""
    return SYSTEMS[name].labelled, SYSTEMS[name].grouped


def _key(source: IndexedDataset, name: str, cell: DegradedCell, question: Question) -> str:
    return key_of(source.dataset.name, SEARCH, f"{name}, {cell.name}", question.id)


def _made(one: Degrading, cell: DegradedCell, labelled: bool, grouped: bool) -> Index:
    """Copy the plain index, degrade the metadata of the copy, and build its hierarchy."""
    plain = one.source.folder if labelled else one.source.bare
    copy_plain(plain, one.folder)
    if changed := one.truth.degraded(cell, one.seed):
        amend(one.folder, one.encoder, changed, one.source.bare)
    hierarchy(one.folder, group_by=one.source.group_by if grouped else [NONE])
    return opened(one.folder)


def _found(one: Degrading, index: Index, system: System) -> Iterator[tuple[Question, list[Hit] | None]]:
    """Yield every question with its hits; None for an oracle filter on a question whose gold has no group."""
    questions = one.source.dataset.questions
    if not system.known:
        yield from zip(questions, _search(index, questions, system), strict=True)
        return
    by_filter: dict[str, tuple[dict[str, Any] | None, list[Question]]] = {}
    for question in questions:
        where = one.truth.filter(question.gold_documents)
        by_filter.setdefault(repr(where), (where, []))[1].append(question)
    for where, asked in by_filter.values():
        yield from zip(asked, [None] * len(asked) if where is None else _search(index, asked, system, where), strict=True)


def _search(index: Index, questions: Sequence[Question], system: System, where: Mapping[str, Any] | None = None) -> list[list[Hit]]:
    view: Any = "flat" if system.options is None else "auto"
    asked = [question.question for question in questions]
    return index.search(asked, DEEPEST, mmr=None, view=view, options=system.options, filter=where)


def _row(one: Degrading, name: str, cell: DegradedCell, question: Question, hits: list[Hit] | None) -> Row:
    """Return a line, with few fields because there are many lines."""
    source = one.source
    told = dict(NOT_SEARCHED) if hits is None else retrieval(question, [passage_of(hit) for hit in hits], source.dataset.hits_by)
    scored = with_groups(told, one.truth, question, hits or ())["retrieval"]
    told["retrieval"] = scored and {name: scored[name] for name in KEPT}
    return {
        **{"key": _key(source, name, cell, question), "dataset": source.dataset.name, "strategy": SEARCH},
        **{"variant": f"{name}, {cell.name}", SYSTEM: name, **cell._asdict()},
        **{"id": question.id, "question": question.question, "type": question.type, "gold_documents": list(question.gold_documents)},
        **{"seed": one.seed, "error": None, "em": None, **told},
    }
