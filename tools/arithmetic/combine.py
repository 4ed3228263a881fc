"""The ways in which the answers of two sub-questions come together, and bringing them together: order, match, join."""

from typing import Final, Literal, cast, get_args

from ramify.tools.arithmetic.dates_and_numbers import in_order, larger, quantity, when
from ramify.tools.arithmetic.same_answer import same
from ramify.tools.folded_text import fold

How = Literal[
    "single",  # not to be split
    "bridge",  # the second question is asked with the first one's answer in it; its answer is the answer
    "agree",  # both ask for the same thing: what both give is the answer
    "earlier", "later", "more", "less",  # a date or number of each of two things: the answer is the name of one
    "before", "after", "exceeds",  # the same, but asked whether it is so
    "same", "differ",  # whether both answers are the same, or not
    "both", "either",  # two verdicts: whether both, or at least one, is Yes
    "which",  # two verdicts: the name of the thing of which alone it is Yes
]  # fmt: skip
Pair = tuple[str, str]
_ASCENDING: Final = frozenset({"earlier", "before", "less"})
_DATED: Final = frozenset({"earlier", "later", "before", "after"})
_CLAIMED: Final = frozenset({"before", "after", "exceeds"})
_COUNTED: Final = frozenset({"more", "less", "exceeds"})
_LINKS: Final = frozenset({"of", "the", "and", "de", "la", "du", "von", "van"})
"""Small words inside names."""
_AROUND = " ,;:?!.\"“”„'‘’"


def as_how(text: str) -> How:
    """Take a text for a way to bring answers together; one that names none leaves the question whole."""
    return cast(How, text) if text in get_args(How) else "single"


def brought_together(how: How, questions: Pair, answers: Pair) -> str:
    """Give the answer that two answers make together; empty where they do not settle it."""
    if how in _DATED | _COUNTED:
        return _ordered(how, questions, answers)
    said = [fold(answer) for answer in answers]
    if how == "which":
        return labels(questions)[said.index("yes")] if sorted(said) == ["no", "yes"] else ""
    if how in ("both", "either"):
        settling, other = ("No", "Yes") if how == "both" else ("Yes", "No")
        return settling if fold(settling) in said else other if said == [fold(other)] * 2 else ""
    if how in ("same", "differ"):
        alike = same(*answers)
        return "" if alike is None else _verdict(alike == (how == "same"))
    if how == "agree":
        return answers[0] if same(*answers) else ""
    return answers[1] if how == "bridge" else ""


def _ordered(how: How, questions: Pair, answers: Pair) -> str:
    """Name the one whose date or number is first in the order asked for; of an order that is claimed, say whether it holds."""
    difference = _apart(answers, how in _DATED)
    if difference is None:
        return ""
    first = (difference < 0) == (how in _ASCENDING)
    if how in _CLAIMED:
        return _verdict(first and difference != 0)
    return labels(questions)[0 if first else 1] if difference else ""


def _apart(answers: Pair, dated: bool) -> float | None:
    """Tell by how much the first date or number is the larger; None where they cannot be compared."""
    if dated:
        dates = [date for answer in answers if (date := when(answer))]
        return in_order(*dates) if len(dates) == 2 else None
    numbers = [number for answer in answers if (number := quantity(answer))]
    return larger(*numbers) if len(numbers) == 2 else None


def _verdict(told: bool) -> str:
    return "Yes" if told else "No"


def labels(questions: Pair) -> Pair:
    """Name the two things that are compared: where the two questions differ, each name whole; nothing where they do not."""
    one, other = (question.split() for question in questions)
    if one == other:
        return "", ""
    before, behind = _common(one, other)
    while before and min(len(one), len(other)) == before + behind:
        before -= 1
    while (back := _name_before(one, before)) != before:
        before = back
    while behind:
        name = " ".join(one[before : len(one) - behind])
        if not _named(one[-behind]) and name.count("(") <= name.count(")"):
            break
        behind -= 1
    first, second = (" ".join(words[before : len(words) - behind]) for words in (one, other))
    return _bare(first), _bare(second)


def _common(one: list[str], other: list[str]) -> tuple[int, int]:
    """Count the words that both begin with, and those of the rest that both end with."""
    shorter = min(len(one), len(other))
    before = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    most = shorter - before
    behind = next((place for place in range(most) if one[-1 - place] != other[-1 - place]), most)
    return before, behind


def _name_before(words: list[str], before: int) -> int:
    """Find where the name begins that goes on at a place; the first word of a question is capitalised anyway."""
    place = before - 1
    while place > 0 and words[place] in _LINKS and before - place < 3:
        place -= 1
    return place if place > 0 and _named(words[place]) and not words[place].endswith((",", ":", ";")) else before


def _named(word: str) -> bool:
    return word.lstrip("\"“'‘(")[:1].isupper()


def _bare(name: str) -> str:
    return name.strip(_AROUND).removesuffix("'s").removesuffix("’s")
