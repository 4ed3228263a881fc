"""reduce: answer the whole question from the answers of its batches, the most helpful first (GraphRAG §2, reduce)."""

import asyncio
from typing import Any, NamedTuple

from ramify.nodes.citation import SHOWN, cite, headings
from ramify.nodes.retrieve import passage_of
from ramify.nodes.retrieve_reports import index_of
from ramify.nodes.settings import EMBEDDED, GlobalSettings
from ramify.nodes.state import State
from ramify.nodes.step import Context, Update, call_model, state_step
from ramify.nodes.step.last_step import final_step
from ramify.nodes.tree import UNKNOWN, Branch, Passage, is_unknown
from ramify.prompts import REDUCE
from ramify.tools.english import content
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.reports import known
from ramify.tools.quoting import flatten
from ramify.tools.supporting_sentence import statements

PART = "part "
"""What the id of a partial answer begins with, beside those of passages."""
_QUOTED = "the answer is sentences quoted from the documents, each under {}; a language model would sum them up"


class _Ground(NamedTuple):
    """A passage that an answer may rest on, and what it says: the findings of reports that name it, or its sentences."""

    passage: Passage
    says: list[str]


@state_step(final=True)
@final_step
async def reduce(context: Context[GlobalSettings]) -> Update:
    """Answer from the partial answers that help; cite the passages that their reports rest on."""
    state, settings = context.state, context.settings
    leaves = sorted((branch for branch in state["tree"].values() if branch.status == "leaf"), key=lambda branch: -(branch.score or 0.0))
    if not leaves:
        failures = [branch.note for branch in state["tree"].values() if branch.status == "failed" and branch.note]
        told: Update = {"notices": [*state["notices"], failures[0]]} if failures else {}
        return {**told, "answer": UNKNOWN, "confidence": 0.0, "explanation": "no part of what was read helps to answer it"}
    parts = tuple(map(_part, leaves))
    reply, update = await call_model(state, REDUCE, parts, instead="the most helpful part is the answer", question=state["question"])
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
    most = settings.final_k if cited else SHOWN
    grounds = await asyncio.to_thread(_grounds, state, parts, answer, most, settings)
    quotes = [next((line for line in ground.says if line in answer and line in flatten(ground.passage.text)), "") for ground in grounds]
    return {
        "answer": "\n".join(_numbered(line, grounds) for line in answer.splitlines()),
        "passages": {**update.get("passages", {}), **{ground.passage.id: ground.passage for ground in grounds}},
        "citations": cite([ground.passage for ground in grounds], quotes, cited),
        **({"notices": [*update.get("notices", state["notices"]), _quoted(parts)]} if state["model"] == EMBEDDED else {}),
    }


def _quoted(parts: list[Branch]) -> str:
    """Say that an answer is quoted, and under what each sentence stands."""
    first = next((found[0] for part in parts for id in part.evidence if (found := known(id))), None)
    return _QUOTED.format(first.under if first else "the title of its document")


def _numbered(line: str, grounds: list[_Ground]) -> str:
    marks = "".join(f"[{number}]" for number, ground in enumerate(grounds, 1) if any(said in line for said in ground.says))
    return f"{line} {marks}".rstrip()


def _part(branch: Branch) -> Passage:
    """Show a partial answer as a passage: it is data, and the least helpful goes first where the window is full."""
    score = branch.score or 0.0
    title = f"helpfulness {100 * score:.0f}"
    return Passage(id=PART + branch.path, text=branch.answer or "", source=PART + branch.path, score=score, metadata={"title": title})


def _grounds(state: State, parts: list[Branch], answer: str, most: int, settings: GlobalSettings) -> list[_Ground]:
    """Lead from what the parts read, through the findings of its reports, to the passages that the answer says most of; blocking."""
    read = dict.fromkeys(id for part in parts for id in part.cited or part.evidence)
    numbers = [found[1] for id in read if (found := known(id))]
    held = {id: state["passages"][id] for id in read if not known(id) and id in state["passages"]}
    says = {id: statements(passage.text, headings(passage)) for id, passage in held.items()}
    index = index_of(settings) if len(held) < len(read) else None
    for report in index.reports.of(numbers) if index and index.reports else ():
        for finding in report.findings:
            for id in finding.passages:
                says.setdefault(id, []).append(finding.text)
    chosen = _said(says, answer)[:most] or _nearest(says, answer)[:most]
    held |= {str(document.id): passage_of(Hit(document, 0.0, 0.0)) for document in (index.get_by_ids(chosen) if index else ())}
    return [_Ground(held[id], says[id]) for id in chosen if id in held]


def _said(says: dict[str, list[str]], answer: str) -> list[str]:
    """List the passages of which the answer says something word for word, in its order."""
    places = {id: min((place for line in lines if line and (place := answer.find(line)) >= 0), default=-1) for id, lines in says.items()}
    return sorted((id for id, place in places.items() if place >= 0), key=lambda id: places[id])


def _nearest(says: dict[str, list[str]], answer: str) -> list[str]:
    """List the passages by the share of the words of what they say that the answer has."""
    told = content(answer)
    shares = {
        id: max((len(words & told) / len(words) for line in lines if (words := content(line))), default=0.0) for id, lines in says.items()
    }
    return sorted(says, key=lambda id: -shares[id])
