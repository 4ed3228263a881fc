"""Read a short answer out of passages with the embedded network: the likeliest span of all passages, or yes, or no."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ramify.tools.extractive.affirm import choose
from ramify.tools.extractive.calibration import SPANS, VERDICTS, Evidence, confidence
from ramify.tools.extractive.countries import mention
from ramify.tools.extractive.features import Asked, ask
from ramify.tools.extractive.places import locate
from ramify.tools.extractive.questions import expected
from ramify.tools.extractive.span import GUESS, NOTHING, Span
from ramify.tools.extractive.spans import Candidate
from ramify.tools.extractive.stated import COUNTRIES, asks_about, cut
from ramify.tools.extractive.text import Quote, fold, sentences
from ramify.tools.reader.pairs import in_context
from ramify.tools.reader.reading import Reading, read_contexts

NOWHERE = -1
_LONGEST = 400
_TRADE = re.compile(r"^(?:[a-z][\w-]* )+(?=[A-Z])")


@dataclass(frozen=True)
class Found:
    """An answer that a passage gives, by its number from 1, how likely it is, and where it was read; a yes or no stands nowhere."""

    answer: str
    value: float
    passage: int
    start: int = NOWHERE
    end: int = NOWHERE


def read_by_network(question: str, passages: Sequence[Quote]) -> Span:
    """Answer a simple question; an empty answer where no passage seems to hold one.

    Which of two named things it is, the rules choose: the network was not trained for that.
    """
    if len(question) > _LONGEST:
        question = sentences(question)[-1][-_LONGEST:]  # whatever is told before, what is asked comes last
    asked = ask(question, expected(question))
    if asked.expected.kind == "choice":
        return choose(asked, locate(question, passages))
    contexts = tuple(in_context(passage["title"], passage["text"]) for passage in passages)
    best, evidence = weigh(asked, contexts)
    if best is None:
        return NOTHING
    sure = confidence(evidence, VERDICTS if asked.expected.kind == "yes_no" else SPANS)
    return Span(best.answer if sure >= GUESS else "", sure, best.passage)


def weigh(asked: Asked, contexts: tuple[str, ...]) -> tuple[Found | None, Evidence]:
    """Choose an answer, and say what speaks for it."""
    readings = read_contexts(asked.text, contexts)
    found = verdicts(readings) if asked.expected.kind == "yes_no" else [*answers(asked, readings, contexts)]
    best, (place, rival) = ranked(found)
    return best, Evidence(place, rival, len(asked.text.split()))


def answers(asked: Asked, readings: Sequence[Reading], contexts: Sequence[str]) -> Iterator[Found]:
    """Give the spans of all passages, each as likely as it is and as its passage is to hold an answer."""
    for number, (reading, context) in enumerate(zip(readings, contexts, strict=True), 1):
        for spot in reading.spots:
            text = to_the_point(context[spot.start : spot.end], asked)
            if fold(text) and not asks_about(asked, text):
                yield Found(text, reading.span * spot.probability, number, spot.start, spot.end)


def to_the_point(text: str, asked: Asked) -> str:
    """Cut a span to what is asked for: the country of a place, the name without the trade before it, the year of a date."""
    if asked.expected.noun in COUNTRIES and (country := mention().search(text)):
        return country[0]
    text = cut(Candidate(text, 0), asked).text.strip(" ,;")
    return _TRADE.sub("", text) if asked.expected.kind == "person" else text


def verdicts(readings: Sequence[Reading]) -> list[Found]:
    """Give yes and no as each passage says it."""
    return [
        Found(answer, value, number)
        for number, reading in enumerate(readings, 1)
        for answer, value in (("Yes", reading.yes), ("No", reading.no))
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
