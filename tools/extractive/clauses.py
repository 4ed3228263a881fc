"""Find the clause, section or step that a question names by its number ("What does clause 2.1 (b) say?")."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from string import ascii_lowercase
from typing import NamedTuple

from ramify.tools.reader.reading import PassageText

_KINDS = r"(?:sub)?(?:clause|section|paragraph)|article|point|item|rule|step|§"
_QUESTION = re.compile(
    rf"what\s+(?:does|do|is|says?)\s+(?:in\s+)?(?:the\s+)?(?:{_KINDS})\s*(?P<number>\d+(?:\.\d+)*|[IVXLC]+)\.?\s*"
    r"(?P<letters>(?:\s*\(\w{1,5}\))*)(?:\s+(?:say|state|read|mean|provide|require|cover))?\s*\?*",
    re.IGNORECASE,
)
_NAMED_NUMBER = re.compile(rf"(?:{_KINDS})\s*(\d+(?:\.\d+)*|[IVXLC]+)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+(?:\.\d+)+|(?:\d+|[IVXLC]+)(?=[.):]))[.):]?\s")
_HEADING_NUMBER = re.compile(r"(\d+)\s")
_LETTER = re.compile(r"\((\w{1,5})\)\s|([a-z])[.)]\s")

_ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv"]
_NEXT = {*pairwise(ascii_lowercase), *pairwise(_ROMAN)}
"""Letters and numerals with those that follow them."""


class _Label(NamedTuple):
    """The number at the beginning of a line ("2.1"), or a letter within it ("b")."""

    number: str = ""
    letter: str = ""


def clause_lines(question: str, passages: Iterable[PassageText], most: int) -> list[tuple[int, str]]:
    """Return the lines of the clause that a question names, at most so many, each with its passage's number from 1; [] without one."""
    asked = _QUESTION.fullmatch(question.strip())
    if asked is None:
        return []
    number, letters = asked["number"].upper(), re.findall(r"\w+", asked["letters"].lower())
    for place, passage in enumerate(passages, start=1):
        if lines := list(_lines_of(passage, number, letters)):
            return [(place, line) for line in lines[:most]]
    return []


def _lines_of(passage: PassageText, number: str, letters: list[str]) -> Iterator[str]:
    """Yield the lines of a clause: the one with its label, and those behind it up to the next label of its own level."""
    heading = f"{passage['title'].rpartition(' > ')[2]} "
    above = _HEADING_NUMBER.match(heading)
    is_within = (above[1] if above else _label(heading).number) == number
    wanted = list(letters)
    for line in filter(str.strip, passage["text"].splitlines()):
        label = _label(line)
        if label.number:
            is_within, wanted = label.number == number, list(letters)
        elif is_within and not wanted and any((letter, label.letter) in _NEXT for letter in letters):
            return
        elif is_within and wanted and label.letter == wanted[0]:
            wanted.pop(0)
        if is_within and not wanted:
            yield line


def _label(line: str) -> _Label:
    letter = _LETTER.match(line)
    number = None if letter else _NAMED_NUMBER.match(line) or _NUMBER.match(line)
    return _Label(number[1].upper() if number else "", (letter[1] or letter[2]).lower() if letter else "")
