"""Answer a question that needs several facts: from findings made before, and by reading where there are none."""

from collections.abc import Sequence
from dataclasses import replace

from ramify.tools.extractive.compare import combined, same
from ramify.tools.extractive.decompose import decompose
from ramify.tools.extractive.in_force import threshold
from ramify.tools.extractive.kinship import KIN, kinship
from ramify.tools.extractive.outcome import Known, Outcome
from ramify.tools.extractive.places import locate
from ramify.tools.extractive.read import read
from ramify.tools.extractive.split import Split
from ramify.tools.extractive.text import Quote, content, fold, same_question

_DEEPEST = 4
_VERDICTS = ("Yes", "No")
_UNSETTLED = 0.3
_PLAIN = 0.7
_DIRECTLY = 0.5
_LEAD = 0.15
_ALONE = 0.8
"""What an answer is worth that only one half of a question leads to."""
_PENALTY = 0.95
"""What each step that had to be read costs, because a wrong step spoils what follows."""


def resolve(question: str, passages: Sequence[Quote], known: Sequence[Known] = (), depth: int = 0) -> Outcome:
    """Answer a question from what is known, else from its sub-questions, else from the passages."""
    recalled = recall(question, known)
    if recalled is not None and recalled.confidence >= threshold():
        return _recalled(recalled, passages)
    split = decompose(question) if depth < _DEEPEST else None
    if split is None or plainly(question, passages):
        return _told(question, passages, recalled)
    outcome = join(split, passages, known, depth)
    outcome = directly(question, passages, outcome, split) if _lost(split, outcome) else outcome
    return outcome if recalled is None or outcome.least >= recalled.confidence else _recalled(recalled, passages)


def _recalled(item: Known, passages: Sequence[Quote]) -> Outcome:
    return Outcome(item.answer, item.confidence, cited(item, passages), (item,), item.confidence)


def _told(question: str, passages: Sequence[Quote], guess: Known | None) -> Outcome:
    """Read a simple question; what was guessed of it before counts where that was surer: there may be more passages now."""
    span = read(question, passages)
    if guess is not None and guess.confidence >= span.confidence:
        return _recalled(guess, passages)
    numbers = (span.passage,) if span.passage else ()
    return Outcome(span.answer, span.confidence, numbers, (Known(question, span.answer, span.confidence),), span.confidence)


def _lost(split: Split, outcome: Outcome) -> bool:
    """Tell whether the sub-questions led nowhere: a first step that cannot be read, or claims that cannot be told one by one."""
    if split.how == "bridge":
        return not outcome.tenable and outcome.steps[0].confidence < threshold()
    return not outcome.tenable and split.how in ("which", "both")


def plainly(question: str, passages: Sequence[Quote]) -> bool:
    """Tell whether a text says who somebody's uncle is, so that nobody need go by way of the parents."""
    return bool(KIN.search(question) and kinship(question.rstrip("? ")) and read(question, passages).confidence >= _PLAIN)


def directly(question: str, passages: Sequence[Quote], failed: Outcome, split: Split) -> Outcome:
    """Read the whole question where its sub-questions led nowhere: one sentence may tell it all."""
    span = read(question, passages)
    least = _PLAIN if split.how == "bridge" else threshold()
    if not span.answer or span.confidence < least:
        return failed
    steps = (*failed.steps, Known(question, span.answer, span.confidence))
    return Outcome(span.answer, span.confidence * _DIRECTLY, (span.passage,), steps, span.confidence)


def join(split: Split, passages: Sequence[Quote], known: Sequence[Known], depth: int) -> Outcome:
    """Answer both questions of a pair and bring the answers together."""
    first = resolve(split.first, passages, known, depth + 1)
    if not first.answer and split.dependent:
        return Outcome("", min(first.confidence, _UNSETTLED), first.passages, first.steps)
    second = resolve(split.filled(first.answer), passages, known, depth + 1)
    steps, numbers = (*first.steps, *second.steps), tuple(dict.fromkeys((*second.passages, *first.passages)))
    if (alone := _by_one(split, first, second)) is not None:
        return replace(alone, passages=numbers, steps=steps)
    if not (first.answer and second.answer):
        return Outcome("", min(first.confidence, second.confidence, _UNSETTLED), numbers, steps)
    answer = combined(named_labels(split, first, second), first.answer, second.answer)
    confidence = first.confidence * second.confidence * _PENALTY if answer else _UNSETTLED
    least = second.least if split.dependent else min(first.least, second.least)
    return Outcome(answer, confidence, numbers, steps, least)


def _by_one(split: Split, first: Outcome, second: Outcome) -> Outcome | None:
    """Answer where one half may do: what is told twice of one thing, and of two claims one that does not hold."""
    if split.how == "agree":
        return _agreed(first, second)
    denied = [half for half in (first, second) if split.how == "both" and half.tenable and fold(half.answer) == "no"]
    return max(denied, key=lambda half: half.confidence, default=None)


def _agreed(first: Outcome, second: Outcome) -> Outcome:
    """Take what both halves tell of one thing, else what one of them tells much more surely than the other."""
    surer, other = sorted((first, second), key=lambda outcome: -outcome.least)
    if surer.answer and other.answer and same(surer.answer, other.answer):
        both = 1 - (1 - surer.least) * (1 - other.least)
        return replace(surer, confidence=both, least=both)
    sure = bool(surer.answer) and surer.least - other.least >= _LEAD
    return replace(surer, confidence=surer.confidence * _ALONE) if sure else Outcome("", _UNSETTLED)


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
    """Number the passage that an answer rests on: of those in which it stands, the one that speaks most of the question.

    Yes and No stand nowhere: they rest on the passage with the sentence that is most like the question.
    """
    if known.answer in _VERDICTS:
        return tuple(place.number for place in locate(known.question, passages)[:1])
    asked = content(known.question)
    texts = [f"{passage['title']} {passage['text']}" for passage in passages]
    holding = [number for number, text in enumerate(texts, 1) if known.answer.casefold() in text.casefold()]
    return tuple(sorted(holding, key=lambda number: -len(asked & content(texts[number - 1])))[:1])
