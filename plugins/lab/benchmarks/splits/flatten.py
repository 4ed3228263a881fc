"""Splits of splits as one list of steps: `{2}` in a step stands for the answer of the second step."""

import re
from collections.abc import Callable, Mapping, Sequence

Halves = Callable[[str], tuple[str, str] | None]
"""Splits a question once; `{1}` in the second half stands for the answer of the first; None where it is single."""
GoldAnswer = Callable[[str], str]
"""Gives the gold answer of a sub-question, "" where there is none."""
Steps = tuple[str, ...]

DEPTH = 3
HOLE = "{1}"
_NUMBER = re.compile(r"\{(\d{1,2})\}")


def flatten(question: str, halves: Halves, gold_answer: GoldAnswer, depth: int = DEPTH) -> Steps:
    """Split a question, and its halves again, as a strategy does: the first half, then the second with the first one's answer in it.

    What the first half answers is what its last step answers. A half without the answer it waits for is a step as it is.
    """
    return _Growing(halves, gold_answer).grown(question, depth)


def fill_answers(steps: Sequence[str], gold_answer: GoldAnswer) -> list[str]:
    """Write each step with the gold answers of the steps that it refers to; a hole that no answer is known for is left out."""
    asked: list[str] = []
    for step in steps:
        asked.append(_NUMBER.sub(lambda match: gold_answer(asked[int(match[1]) - 1]) if 0 < int(match[1]) <= len(asked) else "", step))
    return asked


class _Growing:
    def __init__(self, halves: Halves, gold_answer: GoldAnswer) -> None:
        self.halves, self.gold_answer = halves, gold_answer
        self.steps: list[str] = []

    def grown(self, question: str, depth: int) -> Steps:
        self._grow(question, {}, depth)
        return tuple(self.steps)

    def _grow(self, question: str, known: Mapping[int, str], depth: int) -> None:
        halves = self.halves(question) if depth else None
        if halves is None or question in halves:
            self.steps.append(_numbered(question, known))
            return
        first, second = halves
        self._grow(first, known, depth - 1)
        if HOLE not in second:
            self._grow(second, known, depth - 1)
            return
        number = len(self.steps)
        if answer := self.gold_answer(fill_answers(self.steps, self.gold_answer)[-1]):
            self._grow(second.replace(HOLE, answer), {**known, number: answer}, depth - 1)
        else:
            self.steps.append(_numbered(second.replace(HOLE, f"{{{number}}}"), known))


def _numbered(question: str, known: Mapping[int, str]) -> str:
    """Write the number of a step where its answer stands, so that the steps say what builds on what."""
    numbers = {answer: number for number, answer in known.items()}
    answers = "|".join(map(re.escape, sorted(numbers, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{answers})(?!\w)", lambda match: f"{{{numbers[match[0]]}}}", question) if numbers else question
