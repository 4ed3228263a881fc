"""Read a short answer out of passages with the embedded network: the likeliest span of all passages, or yes, or no."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.tools.english import sentences
from ramify.tools.folded_text import fold
from ramify.tools.reader.calibration import GUESS, NOTHING, SPANS, VERDICTS, Evidence, confidence
from ramify.tools.reader.inputs import Quote, in_context
from ramify.tools.reader.predictions import Reading, read_contexts
from ramify.tools.splitting import splits

_NOWHERE = -1
_EITHER = 0.2
_LONGEST = 400
"""Characters of a question that are read: whatever is told before, what is asked comes last."""
_NEXT_FIELD = re.compile(r"\n[^\n:]{1,60}: ")
"""Where the next field of a record begins: `name: Ada Reed`, then `role: engineer` on a line of its own."""


@dataclass(frozen=True)
class Span:
    """An answer, how sure the reader is, and where it stands: the passage's number from 1, 0 for none."""

    answer: str
    confidence: float
    passage: int


@dataclass(frozen=True)
class Found:
    """An answer that a passage gives, by its number from 1, how likely it is, and where it was read; a yes or no stands nowhere."""

    answer: str
    value: float
    passage: int
    start: int = _NOWHERE
    end: int = _NOWHERE

    @property
    def verdict(self) -> bool:
        """Tell whether it is a yes or no."""
        return self.start == _NOWHERE


def read(question: str, passages: Sequence[Quote]) -> Span:
    """Answer a question, be it with a guess of low confidence; an empty answer where no passage seems to hold one."""
    asked = question if len(question) <= _LONGEST else sentences(question)[-1][-_LONGEST:]
    contexts = tuple(in_context(passage["title"], passage["text"]) for passage in passages)
    begins = [len(context) - len(passage["text"]) for context, passage in zip(contexts, passages, strict=True)]
    best, evidence = weigh(asked, contexts, begins)
    if best is None:
        return Span("", NOTHING, 0)
    sure = confidence(evidence, VERDICTS if best.verdict else SPANS)
    return Span(best.answer if sure >= GUESS else "", sure, best.passage)


def weigh(question: str, contexts: tuple[str, ...], begins: Sequence[int] = ()) -> tuple[Found | None, Evidence]:
    """Choose an answer, and say what speaks for it; `begins` is where the text begins in each context, behind its title."""
    readings = read_contexts(question, contexts)
    best, (place, rival) = ranked([*answers(readings, contexts, begins or [0] * len(contexts)), *verdicts(readings)])
    return best, Evidence(place, rival, len(question.split()), single(question))


def single(question: str) -> float:
    """Tell how likely a question asks for one fact; where only ways to split it are likely, not at all."""
    ways = splits(question)
    return next((way.sure for way in ways if way.how == "single"), 0.0 if ways else 1.0)


def answers(readings: Sequence[Reading], contexts: Sequence[str], begins: Sequence[int]) -> Iterator[Found]:
    """Give the spans of all passages, each as likely as it and its passage are; none runs out of title, bracket or field."""
    for number, (reading, context, begin) in enumerate(zip(readings, contexts, begins, strict=True), 1):
        for spot in reading.spots:
            end = spot.start + len(_NEXT_FIELD.split(context[spot.start : spot.end])[0])
            text = context[spot.start : end].strip(" ,;")
            if fold(text) and not spot.start < begin < end and text.count("(") == text.count(")"):
                yield Found(text, reading.span * spot.probability, number, spot.start, end)


def verdicts(readings: Sequence[Reading]) -> list[Found]:
    """Give yes and no as each passage says it that may well say either: of most questions none does, and none was measured below that."""
    return [
        Found(answer, value, number)
        for number, reading in enumerate(readings, 1)
        for answer, value in (("Yes", reading.yes), ("No", reading.no))
        if reading.yes + reading.no >= _EITHER
    ]


def ranked(found: Sequence[Found]) -> tuple[Found | None, tuple[float, float]]:
    """Choose the likeliest answer; give it with the likelihood of its place and that of the likeliest answer elsewhere.

    Spans that overlap are one place, cut differently: they do not speak against each other.
    """
    if not found:
        return None, (0.0, 0.0)
    best = max(found, key=lambda item: item.value)
    place = sum(item.value for item in found if item is best or _overlapping(best, item))
    others = (item.value for item in found if not _overlapping(best, item) and fold(item.answer) != fold(best.answer))
    return best, (min(1.0, place), max(others, default=0.0))


def _overlapping(one: Found, other: Found) -> bool:
    """Tell whether two answers are the same place cut differently."""
    together = one.start < other.end and other.start < one.end
    return one.passage == other.passage and together
