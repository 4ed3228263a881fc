"""retrieve_reports: divide reports or summaries of a level, or passages, into batches, one branch each; map_report: read one.

GraphRAG §2; a level's batches are joined by `reduce`.
"""

import asyncio
import random
import time
from pathlib import Path
from shlex import quote

from ramify.nodes.asking.ask import Answerer, ask, current_model
from ramify.nodes.asking.language_model import prompt_room
from ramify.nodes.retrieve import add_loading_time
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.state import Usage
from ramify.nodes.step import Context, Update, branch_step, state_step
from ramify.nodes.tree import ROOT, Branch, Passage, Point
from ramify.prompts.global_search import map_prompt
from ramify.tools.demo import demo_index
from ramify.tools.errors import UsageError
from ramify.tools.index.index import Index, iterate_passages
from ramify.tools.index.index_store import FolderStore
from ramify.tools.index.reports import REPORT_NAMES, Report, Reports, Subject, report_id
from ramify.tools.search.searcher import DEMO, Searchable, as_collections, find_passages, index_summary, open_index, warm

_PROMPT_TOKENS = 1200
"""Tokens reserved for the rest of a prompt, with its worked examples."""
_TAG_TOKENS = 40
"""Tokens of the tag around a report."""
_MIN_BATCH_TOKENS = 100
_MIN_LOADING_S = 0.1
"""From this many seconds on, opening an index counts as loading."""
_SKIP_FACTOR = 2
"""A level is skipped if its tokens, as counted when it was built, exceed those of all batches by this factor."""
_MAX_FOUND = 100
"""Passages requested from a search."""

Batches = list[list[Passage]]


@state_step
async def retrieve_reports(context: Context[GlobalSettings]) -> Update:
    """Divide what is to be read into batches, shuffled, so that none has all texts of one kind; a search gives one batch, by rank."""
    state, settings = context.state, context.settings
    index, waited = await asyncio.to_thread(_open_index, settings)
    notice = ""
    if isinstance(index, Index) and settings.over != "search":
        batches, notice = await asyncio.to_thread(_batches, state["question"], index, settings)
    else:
        queries = [state["question"]]
        [passages] = await find_passages(index, queries, k=_MAX_FOUND, hybrid=settings.hybrid, filter=settings.filter, view="flat")
        if settings.over == "search":
            batches = (await asyncio.to_thread(_fill_batches, passages, settings))[:1]
        else:  # another store: it has no reports, and does not list its passages
            batches, _ = await asyncio.to_thread(lambda: _limit_batches(_make_batches(passages, settings), "", settings))
            notice = f"the index has no reports: the passages found by a search are read ({sum(map(len, batches))} passages)"
    root = state["tree"][ROOT]
    evidence = [tuple(text.id for text in batch) for batch in batches]
    children = [Branch(path=f"{ROOT}.{number}", question=root.question, kind="batch", evidence=ids) for number, ids in enumerate(evidence)]
    if settings.over == "search" and current_model(settings).writes:  # the embedded model quotes sentences, which it picks as from a batch
        children = [_with_points(*pair) for pair in zip(children, batches, strict=True)]
    return {
        "tree": {branch.path: branch for branch in (root.with_status("split"), *children)},
        "passages": {text.id: text for batch in batches for text in batch},
        "usage": Usage(retrievals=1),
        "index": index_summary(settings.index, index),
        **({"notices": [notice]} if notice else {}),
        **(add_loading_time(state, waited) if waited else {}),
    }


def _with_points(branch: Branch, passages: list[Passage]) -> Branch:
    """Return a branch whose points are its passages, as they are."""
    points = [
        Point(text=": ".join(filter(None, (passage.title, passage.text))), score=min(1.0, max(0.0, passage.score)), cited=(passage.id,))
        for passage in passages
    ]
    return branch.with_status("answered", answer="", points=points, score=points[0].score)


def _open_index(settings: GlobalSettings) -> tuple[Searchable, float]:
    """Open the index and load the model; return the index and the seconds of loading, which do not count for the question.

    An encoder is loaded only where passages are searched.
    """
    began = time.perf_counter()
    index = open_report_index(settings)
    if settings.over == "search":
        warm(index)
    if isinstance(index, Index) and settings.over == "reports":
        _require_reports(index, settings)  # refused before a model is loaded
    opening = time.perf_counter() - began
    return index, (opening if opening >= _MIN_LOADING_S else 0.0) + current_model(settings).load()


def open_report_index(settings: GlobalSettings) -> Searchable:
    """Return the opened index; for the demo corpus the one with a graph. Blocking. UsageError for several indexes."""
    if several := as_collections(settings.index):
        what = f"reports belong to one index, and {len(several.names)} are given: {', '.join(several.names)}"
        raise UsageError(what, "ask about one of them, or choose another strategy")
    index = demo_index("graph") if settings.index == DEMO else settings.index
    return open_index(index) if isinstance(index, (str, Path)) else index


def _require_reports(index: Index, settings: GlobalSettings) -> Reports:
    """Return the reports of an index; UsageError if there are none, or if there is a filter."""
    if settings.filter:
        raise UsageError("reports cannot be filtered, because each covers many passages", "remove the filter, or set over=passages")
    if index.reports is None:
        made = (
            f"`ramify index --kind graph --out {quote(str(index.where))}`, or --kind hierarchy"
            if isinstance(index.store, FolderStore)
            else "in a folder"
        )
        remedy = f"build a graph or a hierarchy for it: {made}; or read all passages with `--set over=passages`"
        raise UsageError(f"the index {index.where!r} has no reports", remedy)
    return index.reports


def _batches(question: str, index: Index, settings: GlobalSettings) -> tuple[Batches, str]:
    """Return the batches to read, and a notice if some are left out or a higher level is read than requested."""
    if settings.over == "passages":
        return _limit_batches(_make_batches(_passages(index, settings), settings), "all passages", settings)
    reports = _require_reports(index, settings)
    levels, called = reports.levels, REPORT_NAMES[reports.subject].several
    deepest, highest = (len(levels) - 1, 0) if settings.level == "auto" else (settings.level, settings.level)
    model = current_model(settings)
    if settings.level == "auto" and model.is_overview_question(question):
        deepest = 0
    surely = _SKIP_FACTOR * settings.max_batches * _batch_tokens(settings, model)
    for level in range(deepest, highest - 1, -1):
        if highest < level and levels[level].tokens > surely:
            continue
        cut = _make_batches([_report_passage(report, reports.subject) for report in reports.reports(level)], settings)
        if len(cut) <= settings.max_batches:
            raised = f"the {called} of level {level} are read: those of level {level + 1} are more than max_batches={settings.max_batches}"
            return cut, raised if level < deepest else ""
    return _limit_batches(cut, f"the {called} of level {highest}", settings)


def _limit_batches(cut: Batches, what: str, settings: GlobalSettings) -> tuple[Batches, str]:
    """Return at most `max_batches` batches, and a notice if some are left out."""
    most = settings.max_batches
    left = f"{most:,} of {len(cut):,} batches of {what} are read, a random sample limited by max_batches"
    return cut[:most], left if len(cut) > most else ""


def _passages(index: Index, settings: GlobalSettings) -> list[Passage]:
    """List all passages that pass the filter."""
    if settings.filter:
        return index.search([""], len(index), filter=settings.filter, view="flat")[0]
    return list(iterate_passages(index, index.ids()))


def _report_passage(report: Report, subject: Subject) -> Passage:
    """Return a report as a passage: its findings line by line, under its title."""
    text = "\n".join(filter(None, (report.summary, *(finding.text for finding in report.findings))))
    source = report_id(subject, report.community)
    return Passage(id=source, text=text, source=source, score=0.0, metadata={"title": report.title, "rating": report.rating})


def _make_batches(texts: list[Passage], settings: GlobalSettings) -> Batches:
    """Return texts in batches, shuffled by the seed."""
    shuffled = sorted(texts, key=lambda text: text.id)
    random.Random(settings.seed).shuffle(shuffled)
    return _fill_batches(shuffled, settings)


def _fill_batches(texts: list[Passage], settings: GlobalSettings) -> Batches:
    """Return texts in batches, in their order, each within the token limit."""
    model = current_model(settings)
    room = _batch_tokens(settings, model)
    batches: Batches = []
    total = 0
    for text in texts:
        length = model.count(f"{text.title} {text.text}") + _TAG_TOKENS
        if not batches or total + length > room:
            batches.append([])
            total = 0
        batches[-1].append(text)
        total += length
    return batches


def _batch_tokens(settings: GlobalSettings, model: Answerer) -> int:
    """Return the maximum tokens of a batch."""
    return max(_MIN_BATCH_TOKENS, min(settings.batch_tokens or settings.num_ctx, prompt_room(settings, model) - _PROMPT_TOKENS))


@branch_step()
async def map_report(branch: Branch, context: Context[GlobalSettings]) -> list[Branch]:
    """Record the helpful points of a batch; its score is that of the best point, 0 if none helps."""
    passages = context.passages(branch)
    reply = await ask(map_prompt(context.settings.num_predict), passages, field="", question=branch.question)
    read = {number: passage.id for number, passage in enumerate(reply.passages, 1)}
    scored, unread = reply.value.scored
    points = [
        Point(text=point.text, score=point.score / 100, cited=tuple(dict.fromkeys(filter(None, map(read.get, point.reports)))))
        for point in scored
        if point.score
    ]
    unread_reports = len(passages) - len(read)
    notes = (
        f"{unread_reports} of {len(passages)} did not fit into the prompt" if unread_reports else "",
        f"{unread} of {unread + len(scored)} points could not be read" if unread else "",
    )
    return [
        branch.with_status(
            "answered",
            answer="\n".join(point.text for point in points),
            points=points,
            score=max((point.score for point in points), default=0.0),
            cited=tuple(dict.fromkeys(id for point in points for id in point.cited)),
            note=branch.with_note("; ".join(filter(None, notes))),
        )
    ]
