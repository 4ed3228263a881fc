"""reduce: answer the whole question from the points of its batches, the most helpful first (GraphRAG §2, reduce)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ramify.nodes.retrieve import passage_of
from ramify.nodes.retrieve_reports import index_of
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.state import State
from ramify.nodes.step import Context, Update, call_model
from ramify.nodes.step.closing import final_step
from ramify.nodes.step.text import hand_on, in_lines, resting_on, split
from ramify.nodes.tree import UNKNOWN, Passage, Point, Tree, is_unknown
from ramify.nodes.tree.citation import SHOWN, Sentence, cite, headings, numbers_in, without_marks
from ramify.prompts import REDUCE
from ramify.prompts.reduce import MOST
from ramify.tools.english import content_stems
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.index import Index
from ramify.tools.index.reports import parse_report_id
from ramify.tools.knowledge.reports import ReportFinding
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.supporting_sentence import split_statements

POINT = "point "
"""What the id of a point begins with, beside those of passages; its batch and its place there follow."""
_QUOTED = "the answer is sentences quoted from the documents, each under {}; a language model would sum them up"
_EACH = 3
"""Most passages cited for one point of a sentence."""
_NEAR = 0.5
"""Of a report's findings, those are what a point rests on that have this share of the words that the nearest has of its own."""


class _Ground(NamedTuple):
    """A passage that an answer rests on, and what it says: the findings of reports that name it, or its sentences."""

    passage: Passage
    says: list[str]
    points: set[str]
    """The ids of the points that rest on it."""


@final_step
async def reduce(context: Context[GlobalSettings]) -> Update:
    """Answer from the points that help; cite the passages that those it uses rest on."""
    state, settings = context.state, context.settings
    points = _ranked(state["tree"])
    if not points:
        failures = [branch.note for branch in state["tree"].values() if branch.status == "failed" and branch.note]
        lost: Update = {"notices": [*state["notices"], failures[0]]} if failures else {}
        return {**lost, "answer": UNKNOWN, "explanation": "no part of what was read helps to answer it"}
    shown = tuple(_passage(id, point) for id, point in points.items())
    reply, update = await call_model(
        state, REDUCE, shown, instead="the most helpful points are the answer", on_text=hand_on(state), question=state["question"]
    )
    if reply is None:
        best = dict([*points.items()][:MOST])
        answer = "\n".join(point.text for point in best.values())
        said: Update = {"answer": answer, "confidence": next(iter(best.values())).score, "confidence_source": "stated"}
        return {**update, **said, **await _sources(state, update, best, answer, settings)}
    update["passages"] = {passage.id: passage for passage in shown}
    answer = reply.value.text
    told: Update = {"confidence": reply.confidence, "confidence_source": reply.confidence_source}
    if not answer or is_unknown(reply.value.answer):
        return {**update, **told, "answer": UNKNOWN}
    ids = [passage.id for passage in reply.passages]
    in_text = [] if reply.value.quotes else [ids[number - 1] for number in numbers_in(answer) if 0 < number <= len(ids)]
    cited = dict.fromkeys((*in_text, *reply.cited()))
    used = {id: points[id] for id in cited or ids}
    sources = await _sources(state, update, used, answer, settings, bool(cited), None if reply.value.quotes else ids)
    if reply.value.quotes:
        told["notices"] = [*update.get("notices", state["notices"]), _quoted(point.cited for point in used.values())]
    return {**update, **sources, **told}


def _ranked(tree: Tree) -> dict[str, Point]:
    """Rank the points of all batches that help."""
    leaves = [branch for branch in tree.values() if branch.status == "leaf"]
    found = [(f"{POINT}{branch.path}.{place}", point) for branch in leaves for place, point in enumerate(branch.points)]
    return dict(sorted(found, key=lambda one: -one[1].score))


def _passage(id: str, point: Point) -> Passage:
    """Show a point as a passage: it is data, and the least helpful goes first where the window is full."""
    return Passage(id=id, text=point.text, source=id, score=point.score, metadata={"title": f"helpfulness {100 * point.score:.0f}"})


async def _sources(
    state: State,
    update: Update,
    points: Mapping[str, Point],
    answer: str,
    settings: GlobalSettings,
    sure: bool = True,
    numbered: Sequence[str] | None = None,
) -> Update:
    """Cite what the points used rest on; return that with the text.

    The marks of an answer number the points with the ids in `numbered`: they become those of what these rest on. Without, each line of the
    answer is quoted, and gets the numbers of the passages that say it.
    """
    read = {id: point.cited for id, point in points.items() if point.cited} if sure else {}
    cited = bool(read)
    if not cited:  # nothing says what the answer rests on: what the batches of these points have read was only shown
        read = {id: state["tree"][id.removeprefix(POINT).rpartition(".")[0]].evidence for id in points}
    grounds = await asyncio.to_thread(_grounds, state, {id: (points[id].text, ids) for id, ids in read.items()}, settings)
    grounds = sorted(grounds, key=lambda ground: _place(ground, answer))[: settings.final_k if cited else SHOWN]
    quotes = [
        next((line for line in ground.says if line in answer and line in collapse_whitespace(ground.passage.text)), "")
        for ground in grounds
    ]
    places = list(enumerate(grounds, 1))
    if numbered is None:
        numbers = [(line, [place for place, ground in places if any(said in line for said in ground.says)]) for line in answer.splitlines()]
        lines = [[Sentence(text=line.strip(), citations=tuple(found), supported=True)] for line, found in numbers if line.strip()]
    else:
        rests_on = {number: [place for place, ground in places if id in ground.points][:_EACH] for number, id in enumerate(numbered, 1)}
        lines = split(answer, rests_on)
        marked = any(sentence.citations for line in lines for sentence in line)
        if cited and not marked:  # all of it rests on all that is cited
            lines = resting_on(lines, (place for place, _ in places))
    told = in_lines(lines, quoted=numbered is None)
    return {
        **told,
        "answer": told["text"] if numbered is None or marked else without_marks(answer),
        "passages": {**update.get("passages", {}), **{ground.passage.id: ground.passage for ground in grounds}},
        "citations": cite([ground.passage for ground in grounds], quotes, cited),
    }


def _grounds(state: State, points: Mapping[str, tuple[str, Sequence[str]]], settings: GlobalSettings) -> list[_Ground]:
    """Lead from each point, through those findings of its reports that say the same, to passages; blocking."""
    read = dict.fromkeys(id for _, ids in points.values() for id in ids)
    numbers = {id: name[1] for id in read if (name := parse_report_id(id))}
    found = index_of(settings) if numbers else None
    index = found if isinstance(found, Index) else None
    reports = {report.community: report for report in index.reports.by_ids(numbers.values())} if index and index.reports else {}
    held = {id: state["passages"][id] for id in read if id not in numbers and id in state["passages"]}
    says: dict[str, list[str]] = {}
    of: dict[str, set[str]] = {}
    for point, (text, ids) in points.items():
        for id in ids:
            if id in held:
                says.setdefault(id, split_statements(held[id].text, headings(held[id])))
                of.setdefault(id, set()).add(point)
            elif (report := reports.get(numbers.get(id, ""))) is not None:
                for finding in _nearest(report.findings, text):
                    for passage in finding.passages:
                        says.setdefault(passage, []).append(finding.text)
                        of.setdefault(passage, set()).add(point)
    quoted = index.get_by_ids([id for id in says if id not in held]) if index else ()
    held |= {str(document.id): passage_of(Hit(document, 0.0, 0.0)) for document in quoted}
    return [_Ground(held[id], lines, of[id]) for id, lines in says.items() if id in held]


def _nearest(findings: Iterable[ReportFinding], text: str) -> list[ReportFinding]:
    """List the findings that a text has word for word, else those that share most words with it."""
    told = content_stems(text)
    shares = {one: len(words & told) / len(words) if (words := content_stems(one.text)) else 0.0 for one in findings if one.text}
    least = _NEAR * max(shares.values(), default=0.0)
    return [one for one in shares if one.text in text] or [one for one, share in shares.items() if share >= least]


def _place(ground: _Ground, answer: str) -> int:
    """Return where an answer says word for word what a passage says, the end of it where it does not."""
    return min((place for line in ground.says if line and (place := answer.find(line)) >= 0), default=len(answer))


def _quoted(read: Iterable[Sequence[str]]) -> str:
    """Say that an answer is quoted, and under what each sentence stands."""
    first = next((found[0] for ids in read for id in ids if (found := parse_report_id(id))), None)
    return _QUOTED.format(first.under if first else "the title of its document")
