"""Multi-hop questions whose single hops are known, and which hop a sub-question asks for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugins.embedded.training.source import Folder, load_data_folder, supporting_documents
from ramify.tools.index.full_text import query_words

_REFERENCE = re.compile(r"#(\d)")
_COMPARISON, _BRIDGES = "comparison", "bridge_comparison"


@dataclass(frozen=True)
class Hop:
    """A single hop: `#1` in its question stands for the answer of the first hop."""

    question: str
    answer: str


@dataclass(frozen=True)
class HopQuestion:
    """A whole question, its hops, and the ids of the paragraphs that answer it; `official` where the hops are worded as questions."""

    question: str
    hops: tuple[Hop, ...]
    gold: frozenset[str]
    official: bool = True


def sets(data: Path) -> Iterator[tuple[str, Folder, list[HopQuestion]]]:
    """Return each set with its corpus and questions; the last is 2WikiMultihopQA whole, most of it with hops known by title alone."""
    musique, wiki = load_data_folder(data / "musique"), load_data_folder(data / "2wikimultihopqa")
    every = [wiki_question(wiki, item) for item in wiki.questions]
    yield "musique", musique, [musique_question(item) for item in musique.questions if (item["decomposition"] or {}).get("steps")]
    yield "2wikimultihopqa with evidences", wiki, [asked for asked in every if asked.official]
    yield "2wikimultihopqa", wiki, every


def musique_question(item: dict[str, Any]) -> HopQuestion:
    """Read a question of MuSiQue with its official decomposition."""
    hops = tuple(Hop(step["question"], step["answer"]) for step in item["decomposition"]["steps"])
    return HopQuestion(item["question"], hops, _ids(item))


def wiki_question(folder: Folder, item: dict[str, Any]) -> HopQuestion:
    """Read a question of 2WikiMultihopQA; where it has no evidences, a hop is known by the title of the paragraph after it."""
    titles = [document.title or "" for document in supporting_documents(folder, item)]
    triples = list({(subject, relation): (subject, relation, answer) for subject, relation, answer in item.get("evidences") or ()}.values())
    official = len(triples) == len(titles) or (bool(triples) and item["type"] == _COMPARISON)
    triples = triples if official else [(title, "", "") for title in titles]
    after = _order(item["type"], len(triples))
    answers = {before: _bare(titles[at]) for at, before in enumerate(after) if before is not None}
    hops = tuple(
        Hop(f"{subject if before is None else f'#{before + 1}'} {relation}".strip(), answer or answers.get(at, ""))
        for at, ((subject, relation, answer), before) in enumerate(zip(triples, after, strict=True))
    )
    return HopQuestion(item["question"], hops, _ids(item), official)


def _order(kind: str, count: int) -> list[int | None]:
    """Return for each hop the hop that it builds on, in the order of the release: two chains side by side, one chain, or none."""
    if kind == _COMPARISON:
        return [None] * count
    chains = 2 if kind == _BRIDGES else 1
    return [None if at < chains else at - chains for at in range(count)]


def answer_to(sub_question: str, hops: Sequence[Hop]) -> str:
    """Return the gold answer of the hop that shares most words with a sub-question; "" where no hop does, or none builds on that one.

    A hop counts by its own words, earlier answers filled in, or by those of the whole chain up to it, whichever fits better: a sub-question
    may ask for one hop or for several at once. That nothing builds on the last hop keeps the final answer out of what is searched.
    """
    asked = _words(sub_question)
    fits = [max(_f1(asked, _words(wording)) for wording in _wordings(hops, at)) for at in range(len(hops))]
    best = max(fits, default=0.0)
    at = fits.index(best) if best else None
    builds = {int(number) - 1 for hop in hops for number in _REFERENCE.findall(hop.question)}
    return hops[at].answer if at in builds else ""


def _wordings(hops: Sequence[Hop], at: int) -> tuple[str, str]:
    """Word a hop with the answers of earlier ones, and with their questions."""
    own = _REFERENCE.sub(lambda match: hops[int(match[1]) - 1].answer, hops[at].question)
    return own, _REFERENCE.sub(lambda match: _wordings(hops, int(match[1]) - 1)[1], hops[at].question)


def _words(text: str) -> frozenset[str]:
    return frozenset(query_words(text))


def _f1(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / max(1, len(one) + len(other))


def _ids(item: dict[str, Any]) -> frozenset[str]:
    return frozenset(support["doc_id"] for support in item["supporting"])


def _bare(title: str) -> str:
    return re.sub(r"\s*\([^()]*\)$", "", title)
