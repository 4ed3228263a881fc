"""Where a question refers to the answer of another: `{1}`, and the other ways in which models write it."""

import re
from collections.abc import Iterable, Sequence

from ramify.tools.quoting import LONGEST_ANSWER, brief

HOLE = "{1}"
"""Where the answer of the first sub-question belongs in the second."""

_NUMBERED = re.compile(r"(?:(?:the )?(?:answer|result) (?:of|to|from) (?:(?:sub-?)?question )?)?(?<![\w&])#(\d{1,2})\b", re.IGNORECASE)
"""`#1`, as the data sets write it."""
_BRACKETED = re.compile(r"([\[{<(])\1?([^\[\]{}<>()]{1,40})([\]}>)])\3?")
_ORDER = {"first": 1, "one": 1, "previous": 1, "second": 2, "two": 2}
_ANSWER = frozenset({"answer", "answers", "result"})
_BESIDE = frozenset({"the", "of", "to", "from", "for", "question", "subquestion", "sub", "part", *_ORDER})
_MARK = re.compile(r"\{(\d{1,2})\}")


def normal(question: str, said: Iterable[str] = ()) -> str:
    """Write each reference to an answer as `{1}`; what stands so in what was `said` before is meant as it stands."""
    before = " ".join(said)

    def written(number: int | None, text: str) -> str:
        return text if number is None or text in before else f"{{{number}}}"

    text = _BRACKETED.sub(lambda match: written(_number(match[1], match[2]), match[0]), question.strip())
    return _NUMBERED.sub(lambda match: written(None if f"#{match[1]}" in before else int(match[1]), match[0]), text)


def holes(question: str) -> frozenset[int]:
    """Number the answers that a normal question refers to."""
    return frozenset(map(int, _MARK.findall(question)))


def filled(question: str, answers: Sequence[str | None]) -> str | None:
    """Put answers, each as one short line, where a normal question refers to them; None where one of them is not there."""
    if any(not 0 < number <= len(answers) or answers[number - 1] is None for number in holes(question)):
        return None
    return _MARK.sub(lambda match: brief(answers[int(match[1]) - 1] or "", LONGEST_ANSWER), question)


def _number(bracket: str, inside: str) -> int | None:
    """Tell which answer is meant between brackets; None where it is something else."""
    words = re.findall(r"[^\W\d_]+|\d+", inside.casefold())
    numbers = [int(word) for word in words if word.isdecimal()] + [_ORDER[word] for word in words if word in _ORDER]
    if bracket != "(" and re.fullmatch(r"\s*#?\d{1,2}\s*", inside):
        return numbers[0]
    if _ANSWER.isdisjoint(words) or len(numbers) > 1 or not all(word.isdecimal() or word in _ANSWER | _BESIDE for word in words):
        return None
    return numbers[0] if numbers else 1
