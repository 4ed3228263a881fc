"""Examples of `judge`: two sub-questions with their answers that serve a question, and some that do so badly.

A small model is asked with `judge=scores` alone; `auto` goes by confidence.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.llm.hops import Hop, Hops, summary
from plugins.embedded.training.llm.rendered import Asked, sentence
from plugins.embedded.training.llm.statements import missing_fact
from plugins.embedded.training.writing.written import fold
from ramify.prompts import JUDGE
from ramify.prompts.judge import Judgement
from ramify.prompts.prompt import NO_ANSWER

_GOOD: Final = (5, 5, 5, 5)
_MISSING: Final = (2, 5, 5, 5)
_REPEATED: Final = (2, 0, 4, 1)
_STRANGE: Final = (2, 5, 1, 1)
_WRONG: Final = (2, 5, 5, 5)
"""Sufficiency, non-redundancy, consistency and decomposition of a fork in which that is so of one half."""


def judgements(made: Iterable[Hops]) -> Iterator[Asked]:
    """Yield a fork with both answers, and one with a half unanswered, repeated, about something else, or answered by another fact."""
    two = [hops for hops in made if hops.in_turn or hops.apart]
    for number, hops in enumerate(two):
        yield _judged(hops, "good", hops.steps, _GOOD, "neither", summary(hops.steps, ()))
        yield seeded_random("fault", hops.question).choice(list(_faulty(hops, _other(two, number))))


def _faulty(hops: Hops, other: Hop | None) -> Iterator[Asked]:
    """Yield a question's fork with each fault that it can have."""
    first, second = hops.steps
    yield _judged(hops, "unanswered", (first, replace(second, answer=NO_ANSWER)), _MISSING, "2", summary([first], [second.question]))
    if first.reworded:
        again = replace(first, question=first.reworded)
        yield _judged(hops, "repeated", (first, again), _REPEATED, "2", _fault("The second repeats the first", second))
    if other:
        yield _judged(hops, "strange", (first, other), _STRANGE, "2", _fault("The second asks about something else", second))
    if hops.in_turn and fold(first.answer) != fold(second.answer):
        wrong = replace(second, answer=first.answer)
        yield _judged(hops, "wrong", (first, wrong), _WRONG, "2", _fault("The second answer repeats the first", second))


def _fault(fault: str, second: Hop) -> str:
    return sentence(f"{fault}; {missing_fact(second.question)}")


def _other(two: list[Hops], number: int) -> Hop | None:
    """Return the second step of another question, about a thing that this one does not name."""
    hops = two[number]
    known = fold(" ".join([hops.question, *(step.question + " " + step.answer for step in hops.steps)]))
    some = [other for other in two if other.source == hops.source and not {*other.groups} & {*hops.groups}]
    for other in seeded_random("judge", hops.question).sample(some, min(5, len(some))):
        if fold(other.steps[1].document.title or other.steps[1].question) not in known and fold(other.steps[1].answer) not in known:
            return other.steps[1]
    return None


def _judged(hops: Hops, kind: str, pair: Sequence[Hop], scores: tuple[int, ...], weaker: Any, thought: str) -> Asked:
    first, second = pair
    slots = {"question": hops.question, "first": first.question, "second": second.question, "dependent": True}
    answers = {"first_answer": first.answer, "second_answer": second.answer}
    sufficiency, non_redundancy, consistency, decomposition = scores
    reply = Judgement(
        sufficiency=sufficiency, non_redundancy=non_redundancy, consistency=consistency, decomposition=decomposition, weaker=weaker
    )
    groups = (*hops.groups, *(fold(half.document.title or half.document.id) for half in pair))
    return Asked(JUDGE, hops.source, kind, groups, {**slots, **answers}, reply, thought)
