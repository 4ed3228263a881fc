"""Quote lines from passages: the steps or items that a question asks for, in order, or the sentences closest to it.

The constants of lists were chosen on written how-to and list questions over manuals and office documents (`python -m
plugins.embedded.training.listed`).
"""

import re
from collections.abc import Sequence
from itertools import dropwhile, takewhile
from math import exp
from typing import NamedTuple

from ramify.embedded.encoders.packaged import similarities
from ramify.embedded.extractive.questions import open_question_kind
from ramify.embedded.reader.calibration import MIN_CONFIDENCE
from ramify.embedded.reader.listed_items import asked_for
from ramify.embedded.reader.reading import PassageText, add_title, read_contexts
from ramify.tools.english import content_stems
from ramify.tools.supporting_sentence import mark_items, split_statements, with_neighbors

_MAX_PASSAGES = 8
"""Most passages that are read, to limit the time."""
_WORD_SHARE_WEIGHT = _READER_WEIGHT = 0.15
"""Weights of the share of common words and of the reader's probability of an answer, added to a cosine similarity."""
_MIN_LINE_WORDS = 3
"""Shorter lines are not used as the first line of a quotation."""
MAX_SENTENCES, _MAX_PER_PASSAGE = 3, 2
"""Most sentences, and most of one passage."""
_MIN_VALUE = 0.5
"""Sentences with a lower value are dropped."""
MAX_LINES, _MAX_LOOSE_LINES = 8, 4
"""Most lines of a list, and of running text."""
_RELEVANCE_WEIGHT = 0.6
"""Weight of the passage's relevance in [0, 1], added to the value of its best line."""
_MAX_DROP_AFTER, _MAX_DROP_BEFORE, _MAX_DROP_IN_EXPLANATION = 0.2, 0.08, 0.4
"""How much lower the value of a line may be that is quoted after the best one, or before it; and after that of an explanation, which names
its subject once."""
_BIAS, _SLOPE = -5.28, 3.06
"""Logistic function from a passage's worth to the probability that the quoted lines are right."""
_MIN_HEADING_SHARE = 0.6
"""Least share of a list question's words in a heading that announces the list."""
_MAX_TITLE_WORDS, _SENTENCE_ENDS = 8, '.!?:;|)]}"'
"""Most words of a heading, and characters with which no heading ends."""
_ITEM = re.compile(r"(?:[-*•–+]|\(?\w{1,3}[.)])\s|\S*\s*\|")


class LineScores(NamedTuple):
    """The lines of a passage with their values, and the passage's relevance."""

    number: int
    """From 1."""
    title: str
    units: list[str]
    values: list[float]
    relevance: float


def score_lines(question: str, passages: Sequence[PassageText]) -> list[LineScores]:
    """Return the lines of passages with values from similarity, common words and the reader's output; blocking."""
    read, words, scored = passages[:_MAX_PASSAGES], content_stems(question), []
    readings = read_contexts(question, tuple(add_title(passage["title"], passage["text"]) for passage in read)) if read else ()
    for number, (passage, reading) in enumerate(zip(read, readings, strict=True), 1):
        units, title = split_statements(passage["text"], passage["title"].split(" > ")), content_stems(passage["title"])
        readable = _READER_WEIGHT * max(reading.span, reading.yes, reading.no)
        shares = [len(words & (content_stems(unit) | title)) / max(1, len(words)) for unit in units]
        similar = similarities(question, [f"{passage['title']}: {unit}" for unit in units])
        values = [value + _WORD_SHARE_WEIGHT * share + readable for value, share in zip(similar, shares, strict=True)]
        scored.append(LineScores(number, passage["title"], units, values, reading.relevance))
    return scored


class _Neighbor(NamedTuple):
    """A sentence with its neighbours, its value, the number of its passage from 1, and its index there."""

    value: float
    passage: int
    place: int
    quote: str


def closest_sentences(question: str, passages: Sequence[PassageText]) -> list[tuple[int, str]]:
    """Return the sentences closest to a question, the best first, each with its passage's number from 1."""
    candidates = []
    for passage in score_lines(question, passages):
        for place, (unit, value) in enumerate(zip(passage.units, passage.values, strict=True)):
            if len(unit.split()) >= _MIN_LINE_WORDS and content_stems(unit) - content_stems(passage.title):
                candidates.append(_Neighbor(value, passage.number, place, with_neighbors(passage.units, place, "")))
    chosen: list[_Neighbor] = []
    for item in sorted(candidates, key=lambda item: (-item.value, item.passage, item.place)):
        if len(chosen) < MAX_SENTENCES and item.value >= _MIN_VALUE and not _redundant(item, chosen):
            chosen.append(item)
    return [(item.passage, item.quote) for item in chosen]


def _redundant(item: _Neighbor, chosen: Sequence[_Neighbor]) -> bool:
    """Return whether a sentence adjoins or repeats a chosen one, or enough sentences of its passage are chosen."""
    own = [other for other in chosen if other.passage == item.passage]
    words = content_stems(item.quote)
    return (
        len(own) >= _MAX_PER_PASSAGE
        or any(abs(other.place - item.place) <= 1 for other in own)
        or any(len(words & content_stems(other.quote)) >= 0.9 * len(words) for other in chosen)
    )


class QuotedLines(NamedTuple):
    """Lines, each with its passage's number from 1, and the probability that they answer the question."""

    lines: list[tuple[int, str]]
    confidence: float


class ScoredPassage(NamedTuple):
    """A passage with the values of its lines, the index of the best one, and its worth."""

    number: int
    title: str
    units: list[str]
    values: list[float]
    best: int
    worth: float

    def best_lines(self, ahead: float = _MAX_DROP_AFTER) -> list[str]:
        """Return the best line with its list, or with neighbouring sentences of similar value."""
        marked = zip(self.units, mark_items(self.units), strict=True)
        items = [is_item or _ITEM.match(unit) is not None for unit, is_item in marked]
        first = last = self.best
        if last + 1 < len(self.units) and not items[last] and _is_title(self.units[last]):  # the text is below its title
            first = last = last + 1
        if items[first] or (_introduces_list(self.units[first]) and items[first + 1 : first + 2] == [True]):
            while items[first] and first and items[first - 1]:
                first -= 1
            while items[last + 1 : last + 2] == [True]:
                last += 1
            if first and items[first] and _introduces_list(self.units[first - 1]):
                first -= 1
            return self.units[max(first, min(self.best, last + 1 - MAX_LINES)) if self.best >= first + MAX_LINES else first : last + 1][
                :MAX_LINES
            ]
        least = self.values[last]
        while last + 1 < len(self.units) and last - first + 1 < _MAX_LOOSE_LINES:
            if self.values[last + 1] < least - ahead and not _introduces_list(self.units[last]):
                break
            last += 1
        if (
            first
            and last - first + 1 < _MAX_LOOSE_LINES
            and self.values[first - 1] >= least - _MAX_DROP_BEFORE
            and not _is_title(self.units[first - 1])
        ):
            first -= 1
        return self.units[first : last + 1]


def quote_lines(question: str, passages: Sequence[PassageText]) -> QuotedLines | None:
    """Return the steps or items that a question asks for; None for other questions, or if the confidence is too low."""
    kind = open_question_kind(question)
    several = None if kind else asked_for(question)
    sections = score_passages(question, passages) if kind or several else []
    if several:  # a question for a phrase, which a list that it names answers, too
        sections = [section for section in sections if _lists(section, several)]
    if not sections:
        return None
    best = max(sections, key=lambda section: section.worth)
    confidence = lines_confidence(best.worth)
    if confidence < MIN_CONFIDENCE:
        return None
    lines = [(best.number, line) for line in best.best_lines(_MAX_DROP_IN_EXPLANATION if kind == "explain" else _MAX_DROP_AFTER)]
    lines += _continued_items(lines, best, [section for section in sections if _is_same_section(section, best, passages)])
    if kind == "list" and _announces_list(best.title, question):  # the items may be in several passages
        for section in sections:
            used = {number for number, _ in lines}
            if section.number not in used and section.title == best.title and lines_confidence(section.worth) >= MIN_CONFIDENCE:
                lines += [(section.number, line) for line in section.best_lines()]
    return QuotedLines(lines[:MAX_LINES], confidence)


def _lists(section: ScoredPassage, noun: str) -> bool:
    """Return whether the best lines of a passage are a list of what a noun's stem names in the line above it or in the heading."""
    lines = section.best_lines()
    items = [line for line in lines if _ITEM.match(line)] or lines[1:]
    above = lines[0] if _introduces_list(lines[0]) else section.title.rpartition(" > ")[2]
    return len(items) > 1 and (_introduces_list(lines[0]) or _ITEM.match(lines[0]) is not None) and noun in content_stems(above)


def _is_same_section(section: ScoredPassage, best: ScoredPassage, passages: Sequence[PassageText]) -> bool:
    """Return whether two different passages are of the same section of a document."""
    one, other = passages[section.number - 1], passages[best.number - 1]
    return section is not best and (one["source"], one["title"]) == (other["source"], other["title"])


def _continued_items(lines: list[tuple[int, str]], best: ScoredPassage, others: Sequence[ScoredPassage]) -> list[tuple[int, str]]:
    """Return the items at the beginning of another passage that continue a list at the end of the best one."""
    quoted = {line for _, line in lines}
    if lines[-1][1] != best.units[-1] or not _ITEM.match(best.units[-1]):
        return []
    for section in others:
        more = list(dropwhile(quoted.__contains__, section.units))  # lines in both passages
        if goes_on := list(takewhile(_ITEM.match, more)):
            return [(section.number, line) for line in goes_on]
    return []


def score_passages(question: str, passages: Sequence[PassageText]) -> list[ScoredPassage]:
    """Return the passages that have a line of enough words, each with its best line; blocking."""
    scored = []
    for number, title, units, values, relevance in score_lines(question, passages):
        if starts := [place for place, unit in enumerate(units) if len(unit.split()) >= _MIN_LINE_WORDS]:
            best = max(starts, key=lambda place: (values[place], -place))
            scored.append(ScoredPassage(number, title, units, values, best, values[best] + _RELEVANCE_WEIGHT * relevance))
    return scored


def lines_confidence(worth: float) -> float:
    """Return the probability that the lines of a passage of this worth answer the question."""
    return 1 / (1 + exp(-_BIAS - _SLOPE * worth))


def _introduces_list(unit: str) -> bool:
    return unit.rstrip().endswith(":")


def _is_title(unit: str) -> bool:
    return len(unit.split()) <= _MAX_TITLE_WORDS and unit.rstrip()[-1:] not in _SENTENCE_ENDS


def _announces_list(title: str, question: str) -> bool:
    words = content_stems(question)
    return bool(words) and len(words & content_stems(title)) >= _MIN_HEADING_SHARE * len(words)
