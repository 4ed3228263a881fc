"""reduce: answer the whole question from the answers of its batches, the most helpful first (GraphRAG §2, reduce)."""

import asyncio
from typing import Any

from ramify.nodes.citing import SHOWN, cite
from ramify.nodes.closing import closing
from ramify.nodes.conclude import stranded
from ramify.nodes.once import model_call
from ramify.nodes.retrieve import passage_of
from ramify.nodes.retrieve_reports import COMMUNITY, index_of
from ramify.nodes.settings import EMBEDDED, GlobalSettings
from ramify.nodes.state import Citation, State
from ramify.nodes.step import Update, whole
from ramify.nodes.tree import UNKNOWN, Branch, Passage, is_unknown
from ramify.prompts import REDUCE
from ramify.tools.english import content
from ramify.tools.index.snapshot import Hit
from ramify.tools.knowledge.index import GraphIndex
from ramify.tools.knowledge.reports import Finding

PART = "part "
"""What the id of a partial answer begins with, beside those of passages."""
QUOTED = "the answer is sentences quoted from the documents, each under the names of its community; a language model would sum them up"


@whole(final=True)
@closing
async def reduce(state: State, settings: GlobalSettings) -> Update:
    """Answer from the partial answers that help; cite the passages that their reports rest on."""
    stranded(state)
    leaves = sorted((branch for branch in state["tree"].values() if branch.status == "leaf"), key=lambda branch: -(branch.score or 0.0))
    if not leaves:
        failures = [branch.note for branch in state["tree"].values() if branch.status == "failed" and branch.note]
        told: Update = {"notices": [*state["notices"], failures[0]]} if failures else {}
        return {**told, "answer": UNKNOWN, "confidence": 0.0, "explanation": "no part of what was read helps to answer it"}
    parts = tuple(map(_part, leaves))
    reply, update = await model_call(state, REDUCE, parts, instead="the most helpful part is the answer", question=state["question"])
    if reply is None:
        said: dict[str, Any] = {"answer": leaves[0].answer, "confidence": leaves[0].score, "confidence_source": "stated"}
        return {**update, **said, **await _sources(state, update, leaves[:1], leaves[0].answer or "", settings)}
    update["passages"] = {part.id: part for part in parts}
    answer = reply.value.text
    told = {"confidence": reply.confidence, "confidence_source": reply.confidence_source}
    told["explanation"] = "\n".join(point.strip() for point in reply.value.points if point.strip())
    if not answer or is_unknown(reply.value.answer):
        return {**update, **told, "answer": UNKNOWN, "explanation": ""}
    cited = [state["tree"][id.removeprefix(PART)] for id in reply.cited() or reply.shown()]
    return {**update, **told, **await _sources(state, update, cited, answer, settings, bool(reply.cited()))}


async def _sources(state: State, update: Update, parts: list[Branch], answer: str, settings: GlobalSettings, sure: bool = True) -> Update:
    """Cite what an answer rests on; a line that quotes a passage gets its number."""
    cited = sure and any(part.cited for part in parts)
    passages, citations = await asyncio.to_thread(_cited, state, parts, answer, cited, settings)
    return {
        "answer": "\n".join(_numbered(line, citations) for line in answer.splitlines()),
        "passages": {**update.get("passages", {}), **passages},
        "citations": citations,
        **({"notices": [*update.get("notices", state["notices"]), QUOTED]} if state["model"] == EMBEDDED else {}),
    }


def _numbered(line: str, citations: list[Citation]) -> str:
    marks = "".join(f"[{number}]" for number, citation in enumerate(citations, 1) if citation.quote and citation.quote in line)
    return f"{line} {marks}".rstrip()


def _part(branch: Branch) -> Passage:
    """Show a partial answer as a passage: it is data, and the least helpful goes first where the window is full."""
    score = branch.score or 0.0
    title = f"helpfulness {100 * score:.0f}"
    return Passage(id=PART + branch.path, text=branch.answer or "", source=PART + branch.path, score=score, metadata={"title": title})


def _cited(
    state: State, parts: list[Branch], answer: str, cited: bool, settings: GlobalSettings
) -> tuple[dict[str, Passage], list[Citation]]:
    """Lead from the parts that were cited through their reports to passages: first what the answer says most of; blocking."""
    read = [id for part in parts for id in part.cited or part.evidence]
    reported = any(id.startswith(COMMUNITY) for id in read)
    index = index_of(settings) if reported else None
    reports = index.reports.every() if isinstance(index, GraphIndex) else {}
    told: dict[str, str] = {}
    for id in read:
        report = reports.get(id.removeprefix(COMMUNITY))
        for finding in report.findings if report else (Finding("", (id,)),):
            for passage in finding.passages:
                told.setdefault(passage, finding.text)
    texts = {id: told[id] or state["passages"][id].text for id in told if told[id] or id in state["passages"]}
    ranked = sorted(texts, key=lambda id: _apart(texts[id], answer))[: settings.final_k if cited else SHOWN]
    found = {str(document.id): passage_of(Hit(document, 0.0, 0.0)) for document in (index.get_by_ids(ranked) if index else ())}
    held = [found[id] if id in found else state["passages"][id] for id in ranked if id in found or id in state["passages"]]
    quotes = [_quote(passage, told[passage.id], answer) for passage in held]
    return {passage.id: passage for passage in held}, cite(held, quotes, cited)


def _quote(passage: Passage, finding: str, answer: str) -> str:
    """Quote what a report says in the passage's own words, else the line that the answer has word for word."""
    if finding:
        return finding if finding in passage.text else ""
    return next((line for line in passage.text.splitlines() if line.strip() and line.strip() in answer), "").strip()


def _apart(finding: str, answer: str) -> tuple[int, float]:
    """Rank a finding by where the answer says it word for word, else by the share of its words that the answer has not."""
    place = answer.find(finding) if finding else -1
    words = content(finding)
    return (place, 0.0) if place >= 0 else (len(answer), 1 - len(words & content(answer)) / max(1, len(words)))
