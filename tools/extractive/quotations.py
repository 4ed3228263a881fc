"""Lines quoted from passages: the steps or items that a question asks for, in their order, or the sentences closest to it.

The constants of lists were chosen on written how-to and list questions over manuals and office documents (`python -m training.listed`).
"""

import re
from collections.abc import Sequence
from itertools import dropwhile, takewhile
from math import exp
from typing import NamedTuple

from ramify.tools.embeddings.named import similarities
from ramify.tools.english import content_stems
from ramify.tools.extractive.questions import open_ended
from ramify.tools.reader.calibration import LEAST
from ramify.tools.reader.reading import Quote, in_context, read_contexts
from ramify.tools.supporting_sentence import split_statements, with_neighbors

_READ = 8
"""Passages that are read: what reading costs."""
_WORDED = _READABLE = 0.15
"""What shared words, and the reader's probability that the passage holds an answer, add to a similarity from 0 to 1."""
_WORDS = 3
"""A line of fewer words says nothing, and is no beginning."""
SHOWN, _FROM_ONE = 3, 2
"""Most of the closest sentences, and most of one passage."""
_LEAST = 0.5
"""A sentence with a lower value is about something else."""
MOST, _MOST_LOOSE = 8, 4
"""Most lines: of a list, and of sentences that are no list."""
_RELEVANT = 0.6
"""Weight of the passage's relevance, from 0 to 1, beside the value of its best line."""
_AHEAD, _BEHIND, _EXPLAINED = 0.2, 0.08, 0.4
"""How much lower the value of a line may be that is quoted after the best one, or before it; and after that of an explanation, which names
its subject once."""
_BIAS, _SLOPE = -5.28, 3.06
"""Logistic function of the best line's worth: how likely the lines quoted are about those that were asked for."""
_HEADING = 0.6
"""Share of a list question's words from which on a heading promises that list."""
_TITLE, _ENDS = 8, '.!?:;|)]}"'
"""Words of a line that is a heading at most, and how no heading ends."""
_ITEM = re.compile(r"(?:[-*•–+]|\(?\w{1,3}[.)])\s|\S*\s*\|")


class Weighed(NamedTuple):
    """A passage as lines with their values, and how far the reader finds it relevant."""

    number: int
    """From 1."""
    title: str
    units: list[str]
    values: list[float]
    relevance: float


def weighed(question: str, passages: Sequence[Quote]) -> list[Weighed]:
    """Weigh the lines of passages by similarity, shared words, and what the reader finds in the passage; blocking."""
    read, words, found = passages[:_READ], content_stems(question), []
    readings = read_contexts(question, tuple(in_context(passage["title"], passage["text"]) for passage in read)) if read else ()
    for number, (passage, reading) in enumerate(zip(read, readings, strict=True), 1):
        units, title = split_statements(passage["text"], passage["title"].split(" > ")), content_stems(passage["title"])
        readable = _READABLE * max(reading.span, reading.yes, reading.no)
        shares = [len(words & (content_stems(unit) | title)) / max(1, len(words)) for unit in units]
        similar = similarities(question, [f"{passage['title']}: {unit}" for unit in units])
        values = [value + _WORDED * share + readable for value, share in zip(similar, shares, strict=True)]
        found.append(Weighed(number, passage["title"], units, values, reading.relevance))
    return found


class _Neighbor(NamedTuple):
    """A sentence with those around it, its value, its passage by number from 1, and its place there."""

    value: float
    passage: int
    place: int
    quote: str


def closest(question: str, passages: Sequence[Quote]) -> list[tuple[int, str]]:
    """Return the sentences closest to a question, the best first, each with its passage's number from 1."""
    found = []
    for passage in weighed(question, passages):
        for place, (unit, value) in enumerate(zip(passage.units, passage.values, strict=True)):
            if len(unit.split()) >= _WORDS and content_stems(unit) - content_stems(passage.title):
                found.append(_Neighbor(value, passage.number, place, with_neighbors(passage.units, place, "")))
    chosen: list[_Neighbor] = []
    for item in sorted(found, key=lambda item: (-item.value, item.passage, item.place)):
        if len(chosen) < SHOWN and item.value >= _LEAST and not _redundant(item, chosen):
            chosen.append(item)
    return [(item.passage, item.quote) for item in chosen]


def _redundant(item: _Neighbor, chosen: Sequence[_Neighbor]) -> bool:
    """Return whether a sentence adjoins or repeats a chosen one, or enough of its passage are chosen."""
    own = [other for other in chosen if other.passage == item.passage]
    words = content_stems(item.quote)
    return (
        len(own) >= _FROM_ONE
        or any(abs(other.place - item.place) <= 1 for other in own)
        or any(len(words & content_stems(other.quote)) >= 0.9 * len(words) for other in chosen)
    )


class Listed(NamedTuple):
    """Lines, each with its passage's number from 1, and how likely they hold what was asked."""

    lines: list[tuple[int, str]]
    confidence: float


class Section(NamedTuple):
    """A passage as lines with their values, and its worth: that of its best line."""

    number: int
    title: str
    units: list[str]
    values: list[float]
    best: int
    worth: float

    def quoted(self, ahead: float = _AHEAD) -> list[str]:
        """Return the best line with those that belong to it: the whole list, or the sentences around it that fit about as well."""
        items = [_ITEM.match(unit) is not None for unit in self.units]
        first = last = self.best
        if items[first] or (_leads(self.units[first]) and items[first + 1 : first + 2] == [True]):
            while items[first] and first and items[first - 1]:
                first -= 1
            while items[last + 1 : last + 2] == [True]:
                last += 1
            if first and items[first] and _leads(self.units[first - 1]):
                first -= 1
            return self.units[max(first, min(self.best, last + 1 - MOST)) if self.best >= first + MOST else first : last + 1][:MOST]
        if last + 1 < len(self.units) and _is_title(self.units[last]):  # what is asked for stands below it
            first = last = last + 1
        least = self.values[last]
        while last + 1 < len(self.units) and last - first + 1 < _MOST_LOOSE:
            if self.values[last + 1] < least - ahead and not _leads(self.units[last]):
                break
            last += 1
        if first and last - first + 1 < _MOST_LOOSE and self.values[first - 1] >= least - _BEHIND and not _is_title(self.units[first - 1]):
            first -= 1
        return self.units[first : last + 1]


def listed(question: str, passages: Sequence[Quote]) -> Listed | None:
    """Return the steps or items that a question asks for; None where it asks for neither, or nothing fits well enough."""
    kind = open_ended(question)
    found = sections(question, passages) if kind else []
    if not found:
        return None
    best = max(found, key=lambda section: section.worth)
    confidence = likely(best.worth)
    if confidence < LEAST:
        return None
    lines = [(best.number, line) for line in best.quoted(_EXPLAINED if kind == "explain" else _AHEAD)]
    lines += _continued(lines, best, [section for section in found if _beside(section, best, passages)])
    if kind == "list" and _promises(best.title, question):  # its items may be spread over several passages
        for section in found:
            used = {number for number, _ in lines}
            if section.number not in used and section.title == best.title and likely(section.worth) >= LEAST:
                lines += [(section.number, line) for line in section.quoted()]
    return Listed(lines[:MOST], confidence)


def _beside(section: Section, best: Section, passages: Sequence[Quote]) -> bool:
    """Return whether two passages are of the same section of a document."""
    one, other = passages[section.number - 1], passages[best.number - 1]
    return section is not best and (one["source"], one["title"]) == (other["source"], other["title"])


def _continued(lines: list[tuple[int, str]], best: Section, others: Sequence[Section]) -> list[tuple[int, str]]:
    """Return the items with which another passage begins, where a list runs to the end of the best one: a border has cut it."""
    quoted = {line for _, line in lines}
    if lines[-1][1] != best.units[-1] or not _ITEM.match(best.units[-1]):
        return []
    for section in others:
        more = list(dropwhile(quoted.__contains__, section.units))  # what both passages hold
        if goes_on := list(takewhile(_ITEM.match, more)):
            return [(section.number, line) for line in goes_on]
    return []


def sections(question: str, passages: Sequence[Quote]) -> list[Section]:
    """Return the passages that have a line to begin with, each by its best one; blocking."""
    found = []
    for number, title, units, values, relevance in weighed(question, passages):
        if starts := [place for place, unit in enumerate(units) if len(unit.split()) >= _WORDS]:
            best = max(starts, key=lambda place: (values[place], -place))
            found.append(Section(number, title, units, values, best, values[best] + _RELEVANT * relevance))
    return found


def likely(worth: float) -> float:
    """Return how likely the lines of a section of that worth are about those that were asked for."""
    return 1 / (1 + exp(-_BIAS - _SLOPE * worth))


def _leads(unit: str) -> bool:
    return unit.rstrip().endswith(":")


def _is_title(unit: str) -> bool:
    return len(unit.split()) <= _TITLE and unit.rstrip()[-1:] not in _ENDS


def _promises(title: str, question: str) -> bool:
    words = content_stems(question)
    return bool(words) and len(words & content_stems(title)) >= _HEADING * len(words)
