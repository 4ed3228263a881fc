"""reduce: answer the whole question from the points of its batches, the most helpful first (GraphRAG §2, reduce)."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ramify.nodes.reports import open_report_index
from ramify.nodes.settings import GlobalSettings
from ramify.nodes.state import State
from ramify.nodes.step import Context, Update, call_model
from ramify.nodes.step.final_step import final_step
from ramify.nodes.step.text import parse_sentences, text_streamer, text_update, with_citations
from ramify.nodes.tree import UNKNOWN, Passage, Point, Tree, is_unknown
from ramify.nodes.tree.citation import MAX_UNCITED, Sentence, cite, headings, mark_numbers, without_marks
from ramify.prompts.global_search import max_points, reduce_prompt
from ramify.tools.english import content_stems
from ramify.tools.index.index import Index, iterate_passages
from ramify.tools.index.reports import ReportFinding, parse_report_id
from ramify.tools.quoting import collapse_whitespace
from ramify.tools.supporting_sentence import split_statements

POINT = "point "
"""Prefix of a point's id; its batch and its position there follow."""
_QUOTED = "the answer consists of sentences quoted from the documents, each under {}; a language model would summarize them"
_MAX_PASSAGES_PER_POINT = 3
"""Maximum number of passages cited for one point of a sentence."""
_MIN_SHARED_WORDS = 0.5
"""A point rests on the findings that share at least this fraction of the words that the nearest one shares."""


class _CitedPassage(NamedTuple):
    """A passage that an answer rests on, with its statements: the findings of reports that cite it, or its sentences."""

    passage: Passage
    says: list[str]
    points: set[str]
    """The ids of the points that rest on it."""


@final_step
async def reduce(context: Context[GlobalSettings]) -> Update:
    """Answer from the helpful points; cite the passages on which the used ones rest."""
    state, settings = context.state, context.settings
    points = _rank_points(state["tree"])
    if not points:
        failures = [branch.note for branch in state["tree"].values() if branch.status == "failed" and branch.note]
        lost: Update = {"notices": [*state["notices"], failures[0]]} if failures else {}
        return {**lost, "answer": UNKNOWN, "explanation": "nothing that was read helps to answer the question"}
    shown = tuple(_point_passage(id, point) for id, point in points.items())
    prompt, fallback = reduce_prompt(settings.num_predict), "the most helpful points are the answer"
    reply, update = await call_model(state, prompt, shown, fallback=fallback, on_text=text_streamer(state), question=state["question"])
    if reply is None:
        best = dict([*points.items()][: max_points(settings.num_predict)])
        answer = "\n".join(point.text for point in best.values())
        said: Update = {"answer": answer, "confidence": next(iter(best.values())).score, "confidence_source": "stated"}
        return {**update, **said, **await _cite_points(state, update, best, answer, settings)}
    update["passages"] = {passage.id: passage for passage in shown}
    answer = reply.value.text
    conclusion: Update = {"confidence": reply.confidence, "confidence_source": reply.confidence_source}
    if not answer or is_unknown(reply.value.answer):
        return {**update, **conclusion, "answer": UNKNOWN}
    ids = [passage.id for passage in reply.passages]
    in_text = [] if reply.value.quotes else [ids[number - 1] for number in mark_numbers(answer) if 0 < number <= len(ids)]
    cited = dict.fromkeys((*in_text, *reply.cited_ids()))
    used = {id: points[id] for id in cited or ids}
    sources = await _cite_points(state, update, used, answer, settings, bool(cited), None if reply.value.quotes else ids)
    if reply.value.quotes:
        conclusion["notices"] = [*update.get("notices", state["notices"]), _quoted_notice(point.cited for point in used.values())]
    return {**update, **sources, **conclusion}


def _rank_points(tree: Tree) -> dict[str, Point]:
    """Return the points of all helpful batches by id, the most helpful first."""
    leaves = [branch for branch in tree.values() if branch.status == "leaf"]
    points = [(f"{POINT}{branch.path}.{place}", point) for branch in leaves for place, point in enumerate(branch.points)]
    return dict(sorted(points, key=lambda item: -item[1].score))


def _point_passage(id: str, point: Point) -> Passage:
    """Return a point as a passage: it is data, and the least helpful is dropped first if the window is full."""
    return Passage(id=id, text=point.text, source=id, score=point.score, metadata={"title": f"helpfulness {100 * point.score:.0f}"})


async def _cite_points(
    state: State,
    update: Update,
    points: Mapping[str, Point],
    answer: str,
    settings: GlobalSettings,
    is_cited: bool = True,
    numbered: Sequence[str] | None = None,
) -> Update:
    """Return an update with citations of the passages that the points rest on, and the text.

    Marks in the answer are numbers of the points `numbered`, and become numbers of the passages these rest on. Without `numbered`,
    each line of the answer is a quotation, and gets the numbers of the passages that contain it.
    """
    read = {id: point.cited for id, point in points.items() if point.cited} if is_cited else {}
    cited = bool(read)
    if not cited:  # the answer cites nothing: the passages of its batches were only shown
        read = {id: state["tree"][id.removeprefix(POINT).rpartition(".")[0]].evidence for id in points}
    grounds = await asyncio.to_thread(_find_cited_passages, state, {id: (points[id].text, ids) for id, ids in read.items()}, settings)
    grounds = sorted(grounds, key=lambda ground: _quote_position(ground, answer))[: settings.final_k if cited else MAX_UNCITED]
    quotes = [
        next((line for line in ground.says if line in answer and line in collapse_whitespace(ground.passage.text)), "")
        for ground in grounds
    ]
    places = list(enumerate(grounds, 1))
    if numbered is None:
        numbers = [(line, [place for place, ground in places if any(said in line for said in ground.says)]) for line in answer.splitlines()]
        lines = [
            [Sentence(text=line.strip(), citations=tuple(places_of_line), supported=True)]
            for line, places_of_line in numbers
            if line.strip()
        ]
    else:
        rests_on = {
            number: [place for place, ground in places if id in ground.points][:_MAX_PASSAGES_PER_POINT]
            for number, id in enumerate(numbered, 1)
        }
        lines = parse_sentences(answer, rests_on)
        marked = any(sentence.citations for line in lines for sentence in line)
        if cited and not marked:  # all of it rests on all that is cited
            lines = with_citations(lines, (place for place, _ in places))
    text = text_update(lines, quoted=numbered is None)
    return {
        **text,
        "answer": text["text"] if numbered is None or marked else without_marks(answer),
        "passages": {**update.get("passages", {}), **{ground.passage.id: ground.passage for ground in grounds}},
        "citations": cite([ground.passage for ground in grounds], quotes, cited),
    }


def _find_cited_passages(state: State, points: Mapping[str, tuple[str, Sequence[str]]], settings: GlobalSettings) -> list[_CitedPassage]:
    """Return the passages of each point, found through the findings of its reports that say the same; blocking."""
    read = dict.fromkeys(id for _, ids in points.values() for id in ids)
    numbers = {id: name[1] for id in read if (name := parse_report_id(id))}
    report_index = open_report_index(settings) if numbers else None
    index = report_index if isinstance(report_index, Index) else None
    reports = {report.community: report for report in index.reports.by_ids(numbers.values())} if index and index.reports else {}
    passages = {id: state["passages"][id] for id in read if id not in numbers and id in state["passages"]}
    says: dict[str, list[str]] = {}
    of: dict[str, set[str]] = {}
    for point, (text, ids) in points.items():
        for id in ids:
            if id in passages:
                says.setdefault(id, split_statements(passages[id].text, headings(passages[id])))
                of.setdefault(id, set()).add(point)
            elif (report := reports.get(numbers.get(id, ""))) is not None:
                for finding in _nearest_findings(report.findings, text):
                    for passage in finding.passages:
                        says.setdefault(passage, []).append(finding.text)
                        of.setdefault(passage, set()).add(point)
    quoted = iterate_passages(index, [id for id in says if id not in passages]) if index else ()
    passages |= {passage.id: passage for passage in quoted}
    return [_CitedPassage(passages[id], lines, of[id]) for id, lines in says.items() if id in passages]


def _nearest_findings(findings: Iterable[ReportFinding], text: str) -> list[ReportFinding]:
    """List the findings that a text contains verbatim, otherwise those that share most words with it."""
    stems = content_stems(text)
    shares = {
        finding: len(words & stems) / len(words) if (words := content_stems(finding.text)) else 0.0 for finding in findings if finding.text
    }
    least = _MIN_SHARED_WORDS * max(shares.values(), default=0.0)
    return [finding for finding in shares if finding.text in text] or [finding for finding, share in shares.items() if share >= least]


def _quote_position(ground: _CitedPassage, answer: str) -> int:
    """Return the position of a passage's first verbatim statement in an answer; the answer's length if it has none."""
    return min((place for line in ground.says if line and (place := answer.find(line)) >= 0), default=len(answer))


def _quoted_notice(read: Iterable[Sequence[str]]) -> str:
    """Return the notice that an answer is quoted, with the kind of headings in it."""
    first = next((name[0] for ids in read for id in ids if (name := parse_report_id(id))), None)
    return _QUOTED.format(first.under if first else "the title of its document")
