"""Frequent notes of branches: their texts, and short words for them in displays."""

import math
import re
from typing import NamedTuple

from ramify.tools.quoting import truncate_line

MAX_ANSWER_CHARS, MAX_MISSING_CHARS = 80, 240
"""Maximum characters of an answer in a note, and of what is missing."""
MAX_CONFIDENCE = 0.99
"""The highest confidence shown."""
LOW_CONFIDENCE = 0.5
"""Below this confidence a reader is told to check the answer."""
UNSETTLED = "its parts do not settle it: searched itself"
SIMPLE = "simple: asks for one fact"
REPLACED = "did not suffice: replaced"
WEAKER = "the weaker of the two"
SEARCHED = "at the depth limit: searched, not asked"
NOT_FOUND = "nothing was found for it: look at the index and the filter"


def quote_answer(answer: str | None) -> str:
    """Return an answer quoted for a note: on one line, shortened."""
    return repr(truncate_line(answer or "", MAX_ANSWER_CHARS))


def figure(value: float, digits: int = 2) -> str:
    """Write a score for people, rounded down: 0.999 is not 1.00, and 0.947 is not above 0.95."""
    return f"{math.floor(value * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def confidence_figure(value: float | None, digits: int = 2) -> str:
    """Write a confidence for people, in every interface: rounded down, and below 1, because nothing is certain."""
    return figure(min(value or 0.0, MAX_CONFIDENCE), digits)


def check_advice(confidence: float | None) -> str:
    """Return what to do about an answer of this confidence; empty if it is not low."""
    return "low: check this" if confidence is not None and confidence < LOW_CONFIDENCE else ""


def unsure_note(confidence: float | None, tau: float, calibrated: str = "") -> str:
    """Return the note of an answer whose confidence is not above tau, with the model that tau was calibrated for, if any."""
    stated = f"confidence {confidence_figure(confidence, 3)}, " if confidence else ""
    return f"{stated}not above tau {tau:g}{f', calibrated for {calibrated}' if calibrated else ''}"


def missing_note(text: str) -> str:
    """Return the note of what the passages say about a question that they do not answer; empty if nothing."""
    return f"missing: {truncate_line(text.replace(';', ','), MAX_MISSING_CHARS)}" if text.strip() else ""


def read_missing_note(note: str) -> str:
    """Return what a note says is missing, as written by `missing_note`; empty if nothing."""
    match = re.search(r"(?:^|; )missing: ([^;]+)", note)
    return match[1] if match else ""


def repeats_note(answer: str, path: str) -> str:
    """Return the note of a question whose answer was only that of the hop it builds on."""
    return f"{quote_answer(answer)} repeats the answer of {path}"


def filled_note(answer: str | None, path: str) -> str:
    """Return the note of an answer inserted into a question."""
    return f"filled with {quote_answer(answer)} from {path}"


class Abbreviation(NamedTuple):
    """A frequent note: its short word, pattern and meaning."""

    word: str
    line: re.Pattern[str]
    meaning: str


_QUOTED = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
ABBREVIATIONS = (
    Abbreviation("filled", re.compile(rf"filled with {_QUOTED} from [\d.]+(?:, nothing surer)?(?:, confidence [\d.]+)?"),
         "an earlier answer was inserted into the question"),
    Abbreviation("unsure", re.compile(r"(?:confidence [\d.]+, )?not above tau (?P<figure>[\d.]+(?:, calibrated for \w+)?)"),
         "its confidence is not above tau ({figure})"),
    Abbreviation("searched", re.compile(re.escape(SEARCHED)), "at the depth limit: only searched, its passages go to the final answer"),
    Abbreviation("simple", re.compile(re.escape(SIMPLE)), "asks for one fact, so it was not split"),
    Abbreviation("weaker", re.compile(re.escape(WEAKER)), "helps less than the other half, as the judge found"),
)  # fmt: skip


class ShortNote(NamedTuple):
    """A note with its frequent parts as words, and the rest."""

    words: tuple[str, ...]
    rest: str
    meanings: dict[str, str]


def shorten_note(note: str) -> ShortNote:
    """Return a note with its frequent parts replaced by words, in their order."""
    places: list[tuple[int, str]] = []
    meanings: dict[str, str] = {}
    rest = note
    for word, line, meaning in ABBREVIATIONS:
        while match := re.search(rf"(?:^|; ){line.pattern}(?=; |$)", rest):
            places.append((note.find(match[0].removeprefix("; ")), word))
            meanings[word] = meaning.format(**match.groupdict())
            rest = (rest[: match.start()] + rest[match.end() :]).removeprefix("; ")
    return ShortNote(tuple(dict.fromkeys(word for _, word in sorted(places))), rest, meanings)
