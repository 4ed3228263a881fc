"""Answer a question that needs several facts: from findings made before, and by reading where there are none."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ramify.tools.extractive.compare import combined
from ramify.tools.extractive.decompose import decompose
from ramify.tools.extractive.kinship import KIN, kinship
from ramify.tools.extractive.read import THRESHOLD, read
from ramify.tools.extractive.split import Split
from ramify.tools.extractive.text import Quote, content, same_question

_DEEPEST = 4
_UNSETTLED = 0.3
_PLAIN = 0.7
_DIRECTLY = 0.5
_PENALTY = 0.95
"""What each step that had to be read costs, because a wrong step spoils what follows."""


@dataclass(frozen=True)
class Known:
    """A question answered before."""

    question: str
    answer: str
    confidence: float


@dataclass(frozen=True)
class Outcome:
    """An answer, how sure, the passages it rests on, and the steps that led to it; an empty answer where it cannot be told."""

    answer: str
    confidence: float
    passages: tuple[int, ...] = ()
    steps: tuple[Known, ...] = field(default=())
    least: float = 0.0
    """The confidence of what the answer is read from, steps before it not counted."""

    @property
    def tenable(self) -> bool:
        """Tell whether the answer is fit to be given."""
        return bool(self.answer) and self.least >= THRESHOLD


def resolve(question: str, passages: Sequence[Quote], known: Sequence[Known] = (), depth: int = 0) -> Outcome:
    """Answer a question from what is known, else from its sub-questions, else from the passages."""
    if (recalled := recall(question, known)) is not None:
        return Outcome(recalled.answer, recalled.confidence, cited(recalled, passages), (recalled,), recalled.confidence)
    split = decompose(question) if depth < _DEEPEST else None
    if split is None or plainly(question, passages):
        span = read(question, passages)
        numbers = (span.passage,) if span.passage else ()
        return Outcome(span.answer, span.confidence, numbers, (Known(question, span.answer, span.confidence),), span.confidence)
    outcome = join(split, passages, known, depth)
    lost = split.how == "bridge" and not outcome.tenable and outcome.steps[0].confidence < THRESHOLD
    return directly(question, passages, outcome) if lost else outcome


def plainly(question: str, passages: Sequence[Quote]) -> bool:
    """Tell whether a text says who somebody's uncle is, so that nobody need go by way of the parents."""
    return bool(KIN.search(question) and kinship(question.rstrip("? ")) and read(question, passages).confidence >= _PLAIN)


def directly(question: str, passages: Sequence[Quote], failed: Outcome) -> Outcome:
    """Read the whole question where its first step cannot be read: one sentence may tell it all."""
    span = read(question, passages)
    if not span.answer or span.confidence < _PLAIN:
        return failed
    return Outcome(
        span.answer, span.confidence * _DIRECTLY, (span.passage,), (*failed.steps, Known(question, span.answer, span.confidence))
    )


def join(split: Split, passages: Sequence[Quote], known: Sequence[Known], depth: int) -> Outcome:
    """Answer both questions of a pair and bring the answers together."""
    first = resolve(split.first, passages, known, depth + 1)
    if not first.answer and split.dependent:
        return Outcome("", min(first.confidence, _UNSETTLED), first.passages, first.steps)
    second = resolve(split.filled(first.answer), passages, known, depth + 1)
    steps, numbers = (*first.steps, *second.steps), tuple(dict.fromkeys((*second.passages, *first.passages)))
    if not (first.answer and second.answer):
        return Outcome("", min(first.confidence, second.confidence, _UNSETTLED), numbers, steps)
    answer = combined(named_labels(split, first, second), first.answer, second.answer)
    confidence = first.confidence * second.confidence * _PENALTY if answer else _UNSETTLED
    least = second.least if split.dependent else min(first.least, second.least)
    return Outcome(answer, confidence, numbers, steps, least)


def named_labels(split: Split, first: Outcome, second: Outcome) -> Split:
    """Put the person's name where a label describes one: the director of a film by name."""
    if not split.labels[0].startswith("the ") or not split.labels[1].startswith("the "):
        return split
    names = [_named(label, outcome) for label, outcome in zip(split.labels, (first, second), strict=True)]
    return Split(split.first, split.second, split.how, (names[0], names[1]), split.noun)


def _named(label: str, outcome: Outcome) -> str:
    found = next((step for step in outcome.steps if label.removeprefix("the ") in step.question and step.answer), None)
    return found.answer if found and len(outcome.steps) > 1 else label


def recall(question: str, known: Sequence[Known]) -> Known | None:
    """Find what was answered to the same question, the surest of several; None where nothing was."""
    same = [
        item for item in known if item.answer and (same_question(item.question, question) or content(item.question) == content(question))
    ]
    return max(same, key=lambda item: item.confidence, default=None)


def cited(known: Known, passages: Sequence[Quote]) -> tuple[int, ...]:
    """Number the passage that an answer rests on: of those in which it stands, the one that speaks most of the question."""
    asked = content(known.question)
    texts = [f"{passage['title']} {passage['text']}" for passage in passages]
    holding = [number for number, text in enumerate(texts, 1) if known.answer.casefold() in text.casefold()]
    return tuple(sorted(holding, key=lambda number: -len(asked & content(texts[number - 1])))[:1])
