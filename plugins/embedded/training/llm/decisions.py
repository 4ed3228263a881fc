"""Examples of `decide`, and of `decompose` after a search: what to do with a question by what its passages tell."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.llm.answers import AS_A_PART, lacking, tells_answer, told
from plugins.embedded.training.llm.hops import COMPARED, Hop, Hops, first_needed, summary
from plugins.embedded.training.llm.rendered import Asked, sentence
from plugins.embedded.training.llm.shown import numbers_of, passages_among
from plugins.embedded.training.source import WordIndex
from plugins.embedded.training.writing.written import fold
from ramify.prompts.decide import DECIDE, Decision
from ramify.prompts.decompose import DECOMPOSE_SEARCHED, Missing
from ramify.tools.english import strip_disambiguation
from ramify.tools.names import contains_name
from ramify.tools.passage import Passage

_SHOWN: Final = 0.34
"""Share of the single steps whose passage is shown."""


@dataclass(frozen=True)
class _Seen:
    """A question with its passages, the sub-questions that they leave open, and the thought about it."""

    source: str
    groups: tuple[str, ...]
    question: str
    shown: tuple[Passage, ...]
    citations: list[int]
    missing: list[str]
    thought: str
    above: str = ""


def decisions(made: Iterable[Hops], index: WordIndex) -> Iterator[Asked]:
    """Yield single steps, and questions of two steps with the documents of both, of one, or of none."""
    for hops in made:
        for number in range(len(hops.steps)):
            yield from _step(hops, number, index)
        if (hops.in_turn or hops.apart) and tells_answer(hops):
            for known in (hops.steps, hops.steps[:1], ()):
                yield from _of_two(hops, known, index)


def _of_two(hops: Hops, known: tuple[Hop, ...], index: WordIndex) -> Iterator[Asked]:
    """Yield a question when the documents of some steps are shown; nothing if they tell others as well."""
    choose = seeded_random("decide", hops.question, len(known))
    right = list({hop.document.id: hop.document for hop in known}.values())
    left = hops.steps[len(known) :]
    if any(told(hop, document) for hop in left for document in right):
        return
    absent = [hops.answer, *(hop.answer for hop in left)]
    shown = passages_among(right, hops.question, index, absent, hops.documents, choose)
    if shown is None:
        return
    missing = [hop.question if known else hop.template for hop in left]
    unknown = first_needed(left[0].question) if hops.in_turn and left else COMPARED
    thought = summary(known, missing) if known else sentence(f"Nothing of it is told. {unknown}")
    seen = _Seen(hops.source, hops.groups, hops.question, shown, numbers_of(right, shown), missing, thought)
    if missing:
        yield _decided(seen, f"decompose_{len(missing)}", action="decompose", questions=missing)
        first, second = (*missing, "")[:2]
        yield _divided(seen, f"missing_{len(missing)}", Missing(simple=False, first=first, second=second, citations=seen.citations))
    else:
        yield _decided(seen, "answer", action="answer", answer=hops.answer)
        yield _divided(seen, "told", Missing(simple=True, citations=seen.citations))


def _step(hops: Hops, number: int, index: WordIndex) -> Iterator[Asked]:
    """Yield a single step: to be answered; without its document what it names is looked up, or it is not known."""
    hop, choose = hops.steps[number], seeded_random("decide step", hops.question, number)
    right = [hop.document] if choose.random() < _SHOWN else []
    shown = passages_among(right, hop.question, index, [hop.answer], hops.documents, choose)
    if shown is None:
        return
    thought = summary([hop], ()) if right else sentence(f"missing: {lacking(hop.question)}")
    above = hops.question if choose.random() < AS_A_PART else ""
    groups = (fold(hop.question), *hops.groups)
    seen = _Seen(f"{hops.source}_step", groups, hop.question, shown, numbers_of(right, shown), [], thought, above)
    title = strip_disambiguation(hop.document.title or "")
    if right:
        yield _decided(seen, "answer", action="answer", answer=hop.answer)
    elif contains_name(hop.question, title):
        yield _decided(seen, "entities", action="entities", entities=[title])
    else:
        yield _decided(seen, "unknown", action="unknown")
    yield _divided(seen, "simple", Missing(simple=True, citations=seen.citations))


def _decided(seen: _Seen, kind: str, **reply: Any) -> Asked:
    slots = {"question": seen.question, "above": seen.above, "dependent": True, "hint": "", "may": ""}
    decision = Decision(**{"confidence": 1, "citations": seen.citations, "questions": [], "entities": [], **reply})
    return Asked(DECIDE, seen.source, kind, seen.groups, slots, decision, seen.thought, seen.shown)


def _divided(seen: _Seen, kind: str, reply: Missing) -> Asked:
    slots = {"question": seen.question, "dependent": True, "rejected": [], "kept": ""}
    return Asked(DECOMPOSE_SEARCHED, seen.source, kind, seen.groups, slots, reply, seen.thought, seen.shown)
