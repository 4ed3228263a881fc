"""Quote the sentence of a passage that supports an answer, with a neighbouring sentence if needed."""

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ramify.tools.english import content_stems, fold, sentences
from ramify.tools.identifiers import find_identifiers, names_identifier
from ramify.tools.names import contains_name
from ramify.tools.quoting import collapse_whitespace, snippet

MAX_QUOTE_CHARS = 320
"""Approximate length of a quotation."""
_MIN_SENTENCE_CHARS = 70
"""Shorter sentences are quoted with the next one."""
_MAX_ANSWER_WORDS = 12
"""Longer answers are texts, which no single sentence is expected to contain."""
_MAX_PLAIN_ITEM_WORDS = 8
"""Most words of an item of a list without a mark."""
_CELL_SIGNS = {"|", "\t"}
_MAX_WINDOW = 12
"""Most consecutive sentences or items that contain an answer together."""
_MIN_WRAPPED_CHARS = 45
"""Lines of at least this length that end within a sentence were wrapped."""
_VERDICTS = frozenset({"yes", "no", "예", "아니요"})
_OPEN_END = re.compile(r"[^.!?:;|。！？]$")
_NEW_ITEM = re.compile(r"(?:[-*•–+]|\(?\w{1,3}[.)])\s|\S*\s*\|")
_NUMBER = re.compile(r"\s*\(?(?:\d{1,3}|[A-Za-z])[.)]\s+")
_FULL_STOP = re.compile(r"(?<=[。！？])\s*|(?<=[.!?])\s+(?=[가-힣぀-ヿ一-鿿])")
_REFERRING = re.compile(r"(?:it|its|he|his|she|her|they|their|this|these|that|those|such|then|otherwise|however|also)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:(?:chapter|section|part|appendix|table|figure)\s+)?[A-Z]?\d+(?:\.\d+)*[.:]?\s+\S.*", re.IGNORECASE)
_RECORD = re.compile(r"[^\n:]{1,60}: [^\n]+(?:\n[^\n:]{1,60}: [^\n]+)+")
"""The fields of a record, a line each: short ones are quoted whole, since a single field does not name its record."""
_NAVIGATION = re.compile(r"(?:Next|Previous|Prev|Up): .*\[(?:Contents|Index|Top|\?)\]\W*$")
"""The navigation line at the top and bottom of HTML manuals."""
_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}")


class QuestionAnswer(NamedTuple):
    """A question that a passage is cited for, and the answer to it."""

    question: str
    answer: str


def quote_support(text: str, asked: Sequence[QuestionAnswer], headings: Iterable[str] = ()) -> str:
    """Return the sentence that contains the first of the answers found in a passage, else the one with most words of the questions."""
    units = split_statements(text, headings)
    if not units:
        return snippet(text, "", MAX_QUOTE_CHARS)
    for question, answer in asked:
        if is_short_answer(answer) and (best := _best_sentence(units, question, answer)) is not None:
            return with_neighbors(units, best, answer)
        if answer.strip() and (window := _shortest_window(units, answer)) is not None:
            return _join_sentences(units, *window, answer)
    weights = _word_weights(units, content_stems(" ".join(pair.question for pair in asked)))
    long = [len(answer.split()) > _MAX_ANSWER_WORDS for _, answer in asked]
    wanted = [content_stems(f"{question} {answer}" if text else question) for (question, answer), text in zip(asked, long, strict=True)]
    shares = [max((_word_share(words, unit, weights) for words in wanted), default=0.0) for unit in units]
    return with_neighbors(units, max(range(len(units)), key=lambda number: (shares[number], -number)), "")


def supporting_lines(text: str, asked: QuestionAnswer) -> list[str]:
    """Return the sentence with an answer, the lines that contain it together, or the sentence with most words of the question."""
    units = split_statements(text)
    best = _best_sentence(units, *asked) if is_short_answer(asked.answer) else None
    window = (best, best) if best is not None else _shortest_window(units, asked.answer)
    return units[window[0] : window[1] + 1] if window else [closest_sentence(text, asked.question)]


def closest_sentence(text: str, query: str) -> str:
    """Return the sentence or heading with most of a query's words, weighted by rarity; empty if none has any."""
    units, words = split_statements(text), content_stems(query)
    weights = _word_weights(units, words)
    shares = [_word_share(words, unit, weights) for unit in units]
    return units[shares.index(max(shares))] if any(shares) else ""


def split_statements(text: str, headings: Iterable[str] = ()) -> list[str]:
    """Return the sentences, rows and items of a text, without headings; the headings if there is nothing else."""
    titles = {fold(heading) for heading in headings}
    return list(_split_statements(text, frozenset(filter(None, titles))))


@lru_cache(maxsize=1024)
def _split_statements(text: str, titles: frozenset[str]) -> tuple[str, ...]:
    if len(text) <= MAX_QUOTE_CHARS and is_record(text):
        return (collapse_whitespace(text),)
    lines = unwrap_lines(text)
    shown = [line for line in lines if not _LEADERS.search(line)]
    sentences = [collapse_whitespace(unit) for line in shown or lines for unit in split_sentences(line)]
    units = [unit for unit in sentences if fold(unit)]
    items = mark_items(units)
    return tuple(unit for unit, is_item in zip(units, items, strict=True) if is_item or not _is_heading(unit, titles)) or tuple(units)


def split_sentences(line: str) -> list[str]:
    """Split a line into its sentences, in Latin and East Asian writing; the number of an item stays with its first sentence."""
    item = _NUMBER.match(line)
    begin, rest = (line[: item.end()], line[item.end() :]) if item else ("", line)
    first, *others = [unit for piece in _FULL_STOP.split(rest) for unit in sentences(piece)] or [""]
    return [unit for unit in (begin + first, *others) if unit.strip()]


def is_record(text: str) -> bool:
    """Return whether a text consists of the fields of a record, a line each."""
    return _RECORD.fullmatch(text.strip()) is not None


def refers_back(sentence: str) -> bool:
    """Return whether a sentence begins with a word that refers to what precedes it."""
    return _REFERRING.match(sentence) is not None


def unwrap_lines(text: str) -> list[str]:
    """Return the lines of a text, with wrapped lines joined."""
    lines: list[str] = []
    broken = False
    for line in (line.strip() for line in text.split("\n")):
        if broken and line and not _NEW_ITEM.match(line) and " | " not in line:
            lines[-1] += f" {line}"
        elif line:
            lines.append(line)
        broken = is_wrapped(line)
    return lines


def is_wrapped(line: str) -> bool:
    """Return whether a line goes on in the next one: it is long, and ends within a sentence."""
    return len(line) >= _MIN_WRAPPED_CHARS and _OPEN_END.search(line) is not None and " | " not in line


def _shortest_window(units: Sequence[str], answer: str) -> tuple[int, int] | None:
    """Return the first and last of the fewest consecutive lines that contain an answer together, with the one that introduces a list."""
    if answer.strip(" .!").casefold() in _VERDICTS or not contains_answer(" ".join(units), answer):
        return None
    for size in range(2, _MAX_WINDOW + 1):
        for first in range(len(units) - size + 1):
            last = first + size - 1
            if contains_answer(" ".join(units[first : last + 1]), answer):
                return first - (1 if first and units[first - 1].endswith(":") and mark_items(units)[first] else 0), last
    return None


def is_short_answer(answer: str) -> bool:
    """Return whether one sentence can be expected to contain a whole answer."""
    return 0 < len(answer.split()) <= _MAX_ANSWER_WORDS and answer.strip(" .!").casefold() not in _VERDICTS


def contains_answer(text: str, answer: str) -> bool:
    """Return whether a text contains a whole answer."""
    if re.search(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", text, re.IGNORECASE):
        return True
    return len(fold(answer)) > 1 and contains_name(text, answer)


def with_neighbors(units: Sequence[str], number: int, answer: str) -> str:
    """Return a sentence; one that refers to the previous sentence, or is short, together with its neighbor."""
    first = last = number
    if any(unit.endswith(":") for unit in units) and (whole := _list_around(units, number)) is not None:
        first, last = whole
    elif number and _REFERRING.match(units[number]) and len(f"{units[number - 1]} {units[number]}") <= MAX_QUOTE_CHARS:
        first -= 1
    elif number + 1 < len(units) and (len(units[number]) < _MIN_SENTENCE_CHARS or units[number].endswith(":")):
        last += 1 if len(f"{units[number]} {units[number + 1]}") <= MAX_QUOTE_CHARS else 0
    return _join_sentences(units, first, last, answer)


def _list_around(units: Sequence[str], number: int) -> tuple[int, int] | None:
    """Return the first and last line of the list with a line, from the one that introduces it; None if it is too long, or there is none."""
    items = mark_items(units)
    first = last = number
    while first and items[first]:
        first -= 1
    while last + 1 < len(units) and items[last + 1]:
        last += 1
    short = sum(len(unit) + 1 for unit in units[first : last + 1]) <= MAX_QUOTE_CHARS
    return (first, last) if short and last > first and units[first].endswith(":") else None


def mark_items(units: Sequence[str]) -> list[bool]:
    """Return for each line whether it is an item of the list that a line with a colon at its end introduces."""
    supported: list[bool] = []
    is_marked = False
    for place, unit in enumerate(units):
        begins = bool(place) and units[place - 1].endswith(":")
        mark = _NEW_ITEM.match(unit) is not None
        is_marked = mark if begins else is_marked
        is_item = (mark and not _CELL_SIGNS & set(unit)) or (not is_marked and is_plain_item(unit))
        supported.append((begins or (bool(supported) and supported[-1])) and is_item)
    return supported


def is_plain_item(line: str) -> bool:
    """Return whether a line without a mark may be an item of a list: it is short, and neither a sentence nor a row or field."""
    is_short = 0 < len(line.split()) <= _MAX_PLAIN_ITEM_WORDS
    return is_short and line[-1] not in ".!?:。！？" and ": " not in line and not _CELL_SIGNS & set(line)


def _join_sentences(units: Sequence[str], first: int, last: int, answer: str) -> str:
    """Join consecutive sentences, with an ellipsis where text is left out before or after them."""
    quote = " ".join(units[first : last + 1])
    if len(quote) > MAX_QUOTE_CHARS:
        quote = snippet(quote, answer, MAX_QUOTE_CHARS)
    before = "… " if first and not quote.startswith("…") else ""
    after = " …" if last + 1 < len(units) and not quote.endswith("…") else ""
    return f"{before}{quote}{after}"


def _best_sentence(units: Sequence[str], question: str, answer: str) -> int | None:
    """Return the number of the sentence with the answer and most of the question's words; None if none contains the answer."""
    saying = [number for number, unit in enumerate(units) if contains_answer(unit, answer)]
    words, identifiers = content_stems(question) - content_stems(answer), find_identifiers(question)
    weights = _word_weights(units, words)

    def fit(number: int) -> tuple[int, float, int]:
        named = sum(names_identifier(units[number], identifier) for identifier in identifiers)
        return named, _word_share(words, units[number], weights), -number

    return max(saying, key=fit, default=None)


def _word_weights(units: Sequence[str], words: frozenset[str]) -> dict[str, float]:
    """Return the inverse sentence frequency of each word."""
    texts = [content_stems(unit) for unit in units]
    return {word: math.log(1 + len(texts) / (1 + sum(word in text for text in texts))) for word in words}


def _word_share(words: frozenset[str], unit: str, weights: dict[str, float]) -> float:
    unit_words = content_stems(unit)
    total = sum(weights.get(word, 1.0) for word in words)
    return sum(weights.get(word, 1.0) for word in words & unit_words) / total if total else 0.0


def _is_heading(unit: str, titles: frozenset[str]) -> bool:
    """Return whether a unit is a heading."""
    if fold(unit) in titles or _NAVIGATION.match(unit):
        return True
    unended = unit[-1] not in ".!?:;)。！？" and "|" not in unit and len(unit.split()) <= _MAX_ANSWER_WORDS
    return unended and _NUMBERED.fullmatch(unit) is not None
