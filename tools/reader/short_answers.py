"""Read a short answer out of passages with the embedded network: the likeliest span of all passages, or yes, or no."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ramify.tools.english import fold, sentences
from ramify.tools.reader import large, multilingual
from ramify.tools.reader.calibration import GUESS, NOTHING, SPANS, VERDICTS, Constants, Evidence, confidence
from ramify.tools.reader.reading import Quote, Reading, in_context, read_contexts
from ramify.tools.reader.records import asked_cell, cells, is_empty
from ramify.tools.splitting import splits

_NOWHERE = -1
_EITHER = 0.2
_LONGEST = 400
"""Characters of a question that are read: whatever is told before, what is asked comes last."""
_BORDER = re.compile(r"\s+\|(?=\s)|\t|\n[ \t]*\n|\n(?=[ \t]*(?:[^\n:]{1,60}: |[-*•–·|#>] |\d{1,3}[.)] ))")
"""Between cells of a row, paragraphs, fields (`name: Ada Reed`, then `role: engineer`) and items of a list."""
_WRAPPED = 50
"""A line of so many characters was broken because it was full, and a sentence goes on in the next one."""


@dataclass(frozen=True)
class Span:
    """An answer, how sure the reader is, and where it stands: the passage's number from 1, 0 for none."""

    answer: str
    confidence: float
    passage: int


@dataclass(frozen=True)
class ReadAnswer:
    """An answer that a passage gives, by its number from 1, how likely it is, and where it was read; a yes or no stands nowhere."""

    answer: str
    value: float
    passage: int
    start: int = _NOWHERE
    end: int = _NOWHERE

    @property
    def verdict(self) -> bool:
        """Return whether it is a yes or no."""
        return self.start == _NOWHERE


def read(question: str, passages: Sequence[Quote]) -> Span:
    """Answer a question, be it with a guess of low confidence; an empty answer where no passage seems to hold one."""
    asked = question if len(question) <= _LONGEST else sentences(question)[-1][-_LONGEST:]
    contexts = tuple(in_context(passage["title"], passage["text"]) for passage in passages)
    begins = [len(context) - len(passage["text"]) for context, passage in zip(contexts, passages, strict=True)]
    best, evidence = weigh(asked, contexts, begins)
    if best is None:
        return Span("", NOTHING, 0)
    sure = confidence(evidence, constants_of(asked, contexts, best.verdict))
    answer = multilingual.IN_KOREAN[best.answer] if best.verdict and multilingual.is_korean(asked) else best.answer
    return Span(answer if sure >= GUESS else "", sure, best.passage)


def weigh(question: str, contexts: tuple[str, ...], begins: Sequence[int] = ()) -> tuple[ReadAnswer | None, Evidence]:
    """Choose an answer; return it with its evidence. `begins`: where the text starts in each context, after its title."""
    return weighed(question, contexts, read_contexts(question, contexts), begins, multilingual.is_wanted(question, contexts))


def weighed(
    question: str, contexts: Sequence[str], readings: Sequence[Reading], begins: Sequence[int] = (), in_many_languages: bool = False
) -> tuple[ReadAnswer | None, Evidence]:
    """Choose an answer among what was read; the evidence of the multilingual reader is the answer's likelihood alone."""
    found = [*answers(question, readings, contexts, begins or [0] * len(contexts)), *verdicts(readings)]
    if in_many_languages:
        found = [replace(one, answer=multilingual.without_particle(one.answer)) for one in found]
        best, (place, rival) = ranked(found)
        return best, Evidence(place, rival)
    best, (place, rival) = ranked(found)
    return best, Evidence(place, rival, len(question.split()), single(question))


def constants_of(question: str, contexts: Sequence[str], verdict: bool) -> Constants:
    """Return the constants of the reader that reads these, for yes and no or for spans."""
    if multilingual.is_wanted(question, contexts):
        return multilingual.VERDICTS if verdict else multilingual.SPANS
    if large.is_chosen():
        return large.VERDICTS if verdict else large.SPANS
    return VERDICTS if verdict else SPANS


def single(question: str) -> float:
    """Return the probability that a question asks for one fact; 0 if only ways to split it are likely."""
    ways = splits(question)
    return next((way.sure for way in ways if way.how == "single"), 0.0 if ways else 1.0)


def answers(question: str, readings: Sequence[Reading], contexts: Sequence[str], begins: Sequence[int]) -> Iterator[ReadAnswer]:
    """Yield the spans of all passages with the probability of span and passage; none crosses a title, bracket, line, cell or field.

    Where a question names a row of a table or a record, what is read anywhere in them is taken for the cell that it asks for.
    """
    for number, (reading, context, begin) in enumerate(zip(readings, contexts, begins, strict=True), 1):
        there = cells(context, begin)
        cell = asked_cell(question, there) if there else None
        in_cells = 0.0
        for spot in reading.spots:
            if cell is not None and any(one.start <= spot.start < one.end for one in there):
                in_cells += spot.probability
                continue
            end = piece_end(context, spot.start, spot.end)
            text = context[spot.start : end].strip(" ,;")
            if fold(text) and not spot.start < begin < end and text.count("(") == text.count(")"):
                yield ReadAnswer(text, reading.span * spot.probability, number, spot.start, end)
        if cell is not None and in_cells and not is_empty(cell.text):
            yield ReadAnswer(cell.text, reading.span * in_cells, number, cell.start, cell.end)


def piece_end(context: str, start: int, end: int) -> int:
    """Return where the line, cell or field ends in which a span starts, or the span's own end if that comes first.

    A sentence that goes on in the next line, because its line was full or in lower case, is one piece.
    """
    while start < end and context[start].isspace():
        start += 1
    if border := _BORDER.search(context, start, end):
        end = border.start()
    for found in re.finditer("\n", context[start:end]):
        at = start + found.start()
        line, after = context[context.rfind("\n", 0, at) + 1 : at], context[at + 1 :].lstrip()[:1]
        if len(line) < _WRAPPED and not after.islower():
            return at
    return end


def verdicts(readings: Sequence[Reading]) -> list[ReadAnswer]:
    """Return yes and no of each passage that is likely enough to say either; below that nothing was measured."""
    return [
        ReadAnswer(answer, value, number)
        for number, reading in enumerate(readings, 1)
        for answer, value in (("Yes", reading.yes), ("No", reading.no))
        if reading.yes + reading.no >= _EITHER
    ]


def ranked(found: Sequence[ReadAnswer]) -> tuple[ReadAnswer | None, tuple[float, float]]:
    """Choose the likeliest answer; give it with the likelihood of its place and that of the likeliest answer elsewhere.

    Spans that overlap are one place, cut differently: they do not speak against each other.
    """
    if not found:
        return None, (0.0, 0.0)
    best = max(found, key=lambda item: item.value)
    place = sum(item.value for item in found if item is best or _overlapping(best, item))
    others = (item.value for item in found if not _overlapping(best, item) and fold(item.answer) != fold(best.answer))
    return best, (min(1.0, place), max(others, default=0.0))


def _overlapping(one: ReadAnswer, other: ReadAnswer) -> bool:
    """Return whether two answers overlap."""
    together = one.start < other.end and other.start < one.end
    return one.passage == other.passage and together
