"""retrieve (reports): cut the reports or summaries of a level, or all passages, into batches, each a branch (GraphRAG §2)."""

import asyncio
import random
import time
from pathlib import Path

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.asking.language_model import room_for
from ramify.nodes.retrieve import later, passage_of
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.state import Usage
from ramify.nodes.step import Context, Update, state_step
from ramify.nodes.tree import ROOT, Branch, Passage
from ramify.tools.demo import demo_index
from ramify.tools.errors import UsageError
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.reports import REPORT_NAMES, Reports, Subject, report_id
from ramify.tools.index.searcher import DEMO, Searchable, collections_of, describe, find_passages, opened
from ramify.tools.knowledge.reports import Report

_TOLD = 1200
"""Tokens left for what a prompt says beside its reports, with its worked examples."""
_TAG = 40
"""Tokens of the tag around a report."""
_LEAST = 100
_WAITED = 0.1
"""Seconds from which on opening an index is waiting for it."""
_SURELY = 2
"""A level is not read where its tokens, as they were counted when it was made, are so many times those of all batches."""
_WIDE = 100
"""Passages asked of a store or retriever of another make."""

Batches = list[list[Passage]]


@state_step
async def retrieve_reports(context: Context[GlobalSettings]) -> Update:
    """Cut what is to be read into batches, shuffled, so that none has all of a kind."""
    state, settings = context.state, context.settings
    index, waited = await asyncio.to_thread(_opened, settings)
    if isinstance(index, Index):
        batches, notice = await asyncio.to_thread(_batches, state["question"], index, settings)
    else:  # of another make: it has no reports, and does not list what it holds
        [hits] = await find_passages(index, [state["question"]], k=_WIDE, filter=settings.filter)
        batches, _ = await asyncio.to_thread(lambda: _most(_cut([passage_of(hit) for hit in hits], settings), "", settings))
        notice = f"the index has no reports: what it finds is read ({sum(map(len, batches))} passages)"
    root = state["tree"][ROOT]
    evidence = [tuple(text.id for text in batch) for batch in batches]
    children = [Branch(path=f"{ROOT}.{number}", question=root.question, kind="batch", evidence=ids) for number, ids in enumerate(evidence)]
    return {
        "tree": {branch.path: branch for branch in (root.to("split"), *children)},
        "passages": {text.id: text for batch in batches for text in batch},
        "usage": Usage(retrievals=1),
        "index": describe(settings.index, index),
        **({"notices": [notice]} if notice else {}),
        **(later(state, waited) if waited else {}),
    }


def _opened(settings: GlobalSettings) -> tuple[Searchable, float]:
    """Open the index, and load what the model needs; give the seconds that took, which are no part of the question's.

    Nothing is searched by its vector, so no encoder is loaded for the index.
    """
    began = time.perf_counter()
    index = index_of(settings)
    if isinstance(index, Index) and settings.over == "reports":
        _reports(index, settings)  # refused before a model is loaded
    opening = time.perf_counter() - began
    return index, (opening if opening >= _WAITED else 0.0) + current_model(settings).load()


def index_of(settings: GlobalSettings) -> Searchable:
    """Return the index, opened; of the demo corpus the one that has a graph. Blocking. UsageError where there are several."""
    if several := collections_of(settings.index):
        what = f"reports are of one index, and {len(several.names)} are given: {', '.join(several.names)}"
        raise UsageError(what, "ask about one of them, or choose another strategy")
    index = demo_index("graph") if settings.index == DEMO else settings.index
    return opened(index) if isinstance(index, (str, Path)) else index


def _reports(index: Index, settings: GlobalSettings) -> Reports:
    """Give the reports of an index; UsageError where there are none, or where a filter is to choose among them."""
    if settings.filter:
        raise UsageError("reports cannot be filtered: each is on many passages", "leave the filter out, or say over=passages")
    if index.reports is None:
        made = (
            f"`ramify index --kind graph --out {index.where}`, or --kind hierarchy"
            if isinstance(index.store, FolderStore)
            else "in a folder"
        )
        remedy = f"make a graph or a hierarchy beside its passages: {made}; `--set over=passages` reads them all"
        raise UsageError(f"{index.where!r} is an index without reports", remedy)
    return index.reports


def _batches(question: str, index: Index, settings: GlobalSettings) -> tuple[Batches, str]:
    """Read and cut; tell what was not read, or from which level on, where that is not what was meant."""
    if settings.over == "passages":
        return _most(_cut(_passages(index, settings), settings), "all passages", settings)
    reports = _reports(index, settings)
    levels, called = reports.levels, REPORT_NAMES[reports.subject].several
    deepest, highest = (len(levels) - 1, 0) if settings.level == "auto" else (settings.level, settings.level)
    model = current_model(settings)
    if settings.level == "auto" and model.surveys(question):
        deepest = 0
    surely = _SURELY * settings.max_batches * _room(settings, model)
    for level in range(deepest, highest - 1, -1):
        if highest < level and levels[level].tokens > surely:
            continue
        cut = _cut([_report(one, reports.subject) for one in reports.reports(level)], settings)
        if len(cut) <= settings.max_batches:
            raised = f"the {called} of level {level} are read: those of level {level + 1} are more than max_batches={settings.max_batches}"
            return cut, raised if level < deepest else ""
    return _most(cut, f"the {called} of level {highest}", settings)


def _most(cut: Batches, what: str, settings: GlobalSettings) -> tuple[Batches, str]:
    """Keep as many batches as may be asked, and say so where some are left."""
    most = settings.max_batches
    left = f"{most:,} of {len(cut):,} batches of {what} are read, a part that is drawn: max_batches says how many"
    return cut[:most], left if len(cut) > most else ""


def _passages(index: Index, settings: GlobalSettings) -> list[Passage]:
    """List all passages that pass the filter."""
    if settings.filter:
        [hits] = index.search([""], len(index), filter=settings.filter, view="flat")
        return [passage_of(hit) for hit in hits]
    return [passage_of(Hit(document, 0.0, 0.0)) for document in index.get_by_ids(index.ids())]


def _report(report: Report, subject: Subject) -> Passage:
    """Show a report as a passage: its findings line by line, under its title."""
    text = "\n".join(filter(None, (report.summary, *(finding.text for finding in report.findings))))
    source = report_id(subject, report.community)
    return Passage(id=source, text=text, source=source, score=0.0, metadata={"title": report.title, "rating": report.rating})


def _cut(texts: list[Passage], settings: GlobalSettings) -> Batches:
    """Shuffle texts, and fill one batch after another."""
    model = current_model(settings)
    shuffled = sorted(texts, key=lambda text: text.id)
    random.Random(settings.seed).shuffle(shuffled)
    room = _room(settings, model)
    batches: Batches = []
    total = 0
    for text in shuffled:
        length = model.count(f"{text.title} {text.text}") + _TAG
        if not batches or total + length > room:
            batches.append([])
            total = 0
        batches[-1].append(text)
        total += length
    return batches


def _room(settings: GlobalSettings, model: Answerer) -> int:
    """Work out the tokens of a batch."""
    return max(_LEAST, min(settings.batch_tokens or settings.num_ctx, room_for(settings, model) - _TOLD))
