"""What the steps note on branches again and again: written here, and known again for a reader, who wants a word and not the line."""

import re
from typing import NamedTuple

from ramify.tools.quoting import truncate_line

NAME, LONGEST = 80, 240
"""Characters of an answer that a note repeats, and of what it says to be missing."""
SIMPLE = "simple: asks for one fact"
WEAKER = "the weaker of the two"
SEARCHED = "at the depth limit: searched, not asked"
NOTHING = "nothing was found for it: look at the index and the filter"


def named(answer: str | None) -> str:
    """Quote an answer in a note: on one line, and not all of a long one."""
    return repr(truncate_line(answer or "", NAME))


def unsure(confidence: float | None, tau: float, calibrated: str = "") -> str:
    """Note by how much an answer is unsure, if it has a confidence at all, and which model tau was calibrated for, if any."""
    figure = f"confidence {confidence:.3f}, " if confidence else ""
    return f"{figure}not above tau {tau:g}{f', calibrated for {calibrated}' if calibrated else ''}"


def missing(told: str) -> str:
    """Note what the passages tell of a question that they do not answer; nothing where that was not said."""
    return f"missing: {truncate_line(told.replace(';', ','), LONGEST)}" if told.strip() else ""


def partial(note: str) -> str:
    """Read out of a note what the passages tell of a question that they do not answer."""
    found = re.search(r"(?:^|; )missing: ([^;]+)", note)
    return found[1] if found else ""


def filled_with(answer: str | None, path: str) -> str:
    """Note what was put into a question."""
    return f"filled with {named(answer)} from {path}"


class Fold(NamedTuple):
    """A line that is noted often: the word for it, and what the word means."""

    word: str
    line: re.Pattern[str]
    meaning: str


_QUOTED = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
FOLDS = (
    Fold("filled", re.compile(rf"filled with {_QUOTED} from [\d.]+(?:, nothing surer)?(?:, confidence [\d.]+)?"),
         "the answer of the question before it was put into it"),
    Fold("unsure", re.compile(r"(?:confidence [\d.]+, )?not above tau (?P<figure>[\d.]+(?:, calibrated for \w+)?)"),
         "its confidence is not above tau ({figure})"),
    Fold("searched", re.compile(re.escape(SEARCHED)), "at the depth limit: only searched, its passages go to the final answer"),
    Fold("simple", re.compile(re.escape(SIMPLE)), "asks for one fact, so it was not split"),
    Fold("weaker", re.compile(re.escape(WEAKER)), "helps less than the other half, as the judge found"),
)  # fmt: skip


class Folded(NamedTuple):
    """A note with its frequent lines as words, and what else it says."""

    words: tuple[str, ...]
    rest: str
    meanings: dict[str, str]


def folded(note: str) -> Folded:
    """Take the lines that are noted often out of a note, each as one word, in the order in which they stand."""
    found: list[tuple[int, str]] = []
    meanings: dict[str, str] = {}
    rest = note
    for word, line, meaning in FOLDS:
        while match := re.search(rf"(?:^|; ){line.pattern}(?=; |$)", rest):
            found.append((note.find(match[0].removeprefix("; ")), word))
            meanings[word] = meaning.format(**match.groupdict())
            rest = (rest[: match.start()] + rest[match.end() :]).removeprefix("; ")
    return Folded(tuple(dict.fromkeys(word for _, word in sorted(found))), rest, meanings)
