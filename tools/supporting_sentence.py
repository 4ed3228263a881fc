"""The words of a passage that carry an answer: the sentence that says it, with a little of what stands around it."""

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ramify.tools.english import content, fold, sentences
from ramify.tools.quoting import flatten, snippet

LONGEST = 320
"""Characters of a quotation, about."""
_SHORT = 70
"""A sentence of fewer characters says little without its neighbour."""
_NAMED = 12
"""Words from which on an answer is a text, of which no sentence is expected to hold all."""
_WRAPPED = 45
"""Characters from which on a line that ends amid a sentence was broken to fit a page."""
_VERDICTS = frozenset({"yes", "no", "예", "아니요"})
_OPEN_END = re.compile(r"[^.!?:;|。！？]$")
_NEW_ITEM = re.compile(r"(?:[-*•–+]|\(?\w{1,3}[.)])\s|\S*\s*\|")
_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z])[.)]\s+")
_FULL_STOP = re.compile(r"(?<=[。！？])\s*|(?<=[.!?])\s+(?=[가-힣぀-ヿ一-鿿])")
_LEANING = re.compile(r"(?:it|its|he|his|she|her|they|their|this|these|that|those|such|then|otherwise|however|also)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:(?:chapter|section|part|appendix|table|figure)\s+)?[A-Z]?\d+(?:\.\d+)*[.:]?\s+\S.*", re.IGNORECASE)
_RECORD = re.compile(r"[^\n:]{1,60}: [^\n]+(?:\n[^\n:]{1,60}: [^\n]+)+")
"""The fields of a record, a line each: short ones are quoted whole, since a field by itself does not say of what it is."""
_NAVIGATION = re.compile(r"(?:Next|Previous|Prev|Up): .*\[(?:Contents|Index|Top|\?)\]\W*$")
"""The line of links that manuals in HTML have at head and foot."""
_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}")


class Asked(NamedTuple):
    """A question that a passage is cited for, and the answer to it."""

    question: str
    answer: str


def carrying(text: str, asked: Sequence[Asked], headings: Iterable[str] = ()) -> str:
    """Quote the sentence of a passage that carries the answer: the first of the answers that it holds, else most of what is asked."""
    units = statements(text, headings)
    if not units:
        return snippet(text, "", LONGEST)
    for question, answer in asked:
        if short(answer):
            if (best := _best(units, question, answer)) is not None:
                return with_neighbors(units, best, answer)
            if (first := next((n for n in range(1, len(units)) if holds(f"{units[n - 1]} {units[n]}", answer)), None)) is not None:
                return _cut(units, first - 1, first, answer)
    weights = _weights(units, content(" ".join(one.question for one in asked)))
    long = [len(answer.split()) > _NAMED for _, answer in asked]
    wanted = [content(f"{question} {answer}" if text else question) for (question, answer), text in zip(asked, long, strict=True)]
    shares = [max((_share(words, unit, weights) for words in wanted), default=0.0) for unit in units]
    return with_neighbors(units, max(range(len(units)), key=lambda number: (shares[number], -number)), "")


def nearest(text: str, query: str) -> str:
    """Return the sentence or heading with most of a query's words, weighted by rarity; empty if none has any."""
    units, words = statements(text), content(query)
    weights = _weights(units, words)
    shares = [_share(words, unit, weights) for unit in units]
    return units[shares.index(max(shares))] if any(shares) else ""


def statements(text: str, headings: Iterable[str] = ()) -> list[str]:
    """Return the sentences, rows and items of a text, without headings; the headings if there is nothing else."""
    titles = {fold(heading) for heading in headings}
    return list(_statements(text, frozenset(filter(None, titles))))


@lru_cache(maxsize=1024)
def _statements(text: str, titles: frozenset[str]) -> tuple[str, ...]:
    if len(text) <= LONGEST and _RECORD.fullmatch(text.strip()):
        return (flatten(text),)
    lines = unwrapped(text)
    shown = [line for line in lines if not _LEADERS.search(line)]
    found = [flatten(unit) for line in shown or lines for unit in split_sentences(line)]
    units = [unit for unit in found if fold(unit)]
    return tuple(unit for unit in units if not _is_heading(unit, titles)) or tuple(units)


def split_sentences(line: str) -> list[str]:
    """Split a line into its sentences, in Latin and East Asian writing; the number of an item stays with its first sentence."""
    item = _NUMBER.match(line)
    begin, rest = (line[: item.end()], line[item.end() :]) if item else ("", line)
    first, *others = [unit for piece in _FULL_STOP.split(rest) for unit in sentences(piece)] or [""]
    return [unit for unit in (begin + first, *others) if unit.strip()]


def unwrapped(text: str) -> list[str]:
    """Return the lines of a text, with those broken to fit a page joined again."""
    lines: list[str] = []
    broken = False
    for line in (line.strip() for line in text.split("\n")):
        if broken and line and not _NEW_ITEM.match(line) and " | " not in line:
            lines[-1] += f" {line}"
        elif line:
            lines.append(line)
        broken = len(line) >= _WRAPPED and _OPEN_END.search(line) is not None and " | " not in line
    return lines


def short(answer: str) -> bool:
    """Return whether one sentence can be expected to contain a whole answer."""
    return 0 < len(answer.split()) <= _NAMED and answer.strip(" .!").casefold() not in _VERDICTS


def holds(text: str, answer: str) -> bool:
    """Return whether a text contains a whole answer."""
    if re.search(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", text, re.IGNORECASE):
        return True
    folded = fold(answer)
    return len(folded) > 1 and f" {folded} " in f" {fold(text)} "


def with_neighbors(units: Sequence[str], number: int, answer: str) -> str:
    """Quote a sentence; one that refers to the one before it, or is short, with its neighbor."""
    first = last = number
    if number and _LEANING.match(units[number]) and len(f"{units[number - 1]} {units[number]}") <= LONGEST:
        first -= 1
    elif number + 1 < len(units) and (len(units[number]) < _SHORT or units[number].endswith(":")):
        last += 1 if len(f"{units[number]} {units[number + 1]}") <= LONGEST else 0
    return _cut(units, first, last, answer)


def _cut(units: Sequence[str], first: int, last: int, answer: str) -> str:
    """Quote sentences that follow each other, with a sign for what is left out before and behind them."""
    quote = " ".join(units[first : last + 1])
    if len(quote) > LONGEST:
        quote = snippet(quote, answer, LONGEST)
    before = "… " if first and not quote.startswith("…") else ""
    after = " …" if last + 1 < len(units) and not quote.endswith("…") else ""
    return f"{before}{quote}{after}"


def _best(units: Sequence[str], question: str, answer: str) -> int | None:
    """Return the number of the sentence with the answer and most of the question's words; None if none contains the answer."""
    saying = [number for number, unit in enumerate(units) if holds(unit, answer)]
    words = content(question) - content(answer)
    weights = _weights(units, words)
    return max(saying, key=lambda number: (_share(words, units[number], weights), -number), default=None)


def _weights(units: Sequence[str], words: frozenset[str]) -> dict[str, float]:
    """Weigh each word by its inverse sentence frequency."""
    texts = [content(unit) for unit in units]
    return {word: math.log(1 + len(texts) / (1 + sum(word in text for text in texts))) for word in words}


def _share(words: frozenset[str], unit: str, weights: dict[str, float]) -> float:
    here = content(unit)
    total = sum(weights.get(word, 1.0) for word in words)
    return sum(weights.get(word, 1.0) for word in words & here) / total if total else 0.0


def _is_heading(unit: str, titles: frozenset[str]) -> bool:
    """Return whether a unit is a heading."""
    if fold(unit) in titles or _NAVIGATION.match(unit):
        return True
    unended = unit[-1] not in ".!?:;)。！？" and "|" not in unit and len(unit.split()) <= _NAMED
    return unended and _NUMBERED.fullmatch(unit) is not None
