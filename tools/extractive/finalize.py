"""Replies to the prompts that bring findings together: finalize and aggregate."""

from collections.abc import Sequence
from math import prod

from ramify.tools.arithmetic.combine import Pair, as_how, brought_together
from ramify.tools.arithmetic.same_answer import same
from ramify.tools.english import content, holds, same_question
from ramify.tools.extractive.answering import answered
from ramify.tools.extractive.findings import STEPS, Known, Step, Twig, grown, settled, strands
from ramify.tools.extractive.slots import Reply, Slots
from ramify.tools.reader.inputs import Quote
from ramify.tools.reader.short_answers import read
from ramify.tools.unknown import UNKNOWN

_LEAD, _ALONE = 0.15, 0.8
"""Of two halves that should agree, one alone does where it is surer by this; it is then worth less."""
_VERDICTS = ("Yes", "No")
_SETTLED_BY_ONE = (("both", "No"), ("either", "Yes"))


def finalize(slots: Slots) -> Reply:
    """Answer the whole question from the findings, and say how conflicts were settled."""
    reply, step = _concluded(slots)
    return {**reply, "settled_by": "unsettled" if reply["answer"] == UNKNOWN and step == "agreement" else step}


def aggregate(slots: Slots) -> Reply:
    """Answer a question from the findings of its sub-questions."""
    return _concluded(slots)[0]


def _concluded(slots: Slots) -> tuple[Reply, Step]:
    """Take what the tree of findings comes to; where that is nothing, read the question itself."""
    question, passages = slots["question"], slots["passages"]
    steps: list[Step] = ["agreement"]
    known = _value(grown(question, slots["findings"]), passages, steps)
    step = max(steps, key=STEPS.index)
    if known.fit:
        return {"answer": known.answer, "confidence": known.confidence, "citations": cited(known, passages)}, step
    if step == "unsettled":
        return {"answer": UNKNOWN, "confidence": 0.0, "citations": []}, step
    return answered(read(question, passages)), step


def _value(twig: Twig, passages: Sequence[Quote], steps: list[Step]) -> Known:
    """Give what a branch comes to: brought together from its parts, else its answer, else what reading its passages late gives."""
    parts = [below for below in twig.twigs if not same_question(below.question, twig.question)]
    if (known := _from_parts(twig, parts, passages, steps)).fit:
        return known
    again = [_value(below, passages, steps) for below in twig.twigs if below not in parts]
    rivals = [known for known in (twig.own, *again) if known.answer]
    if sum(known.fit for known in again) > 1:
        known, step = settled([known for known in rivals if known.fit], passages)
        steps.append(step)
        return known
    if rivals:
        return max(rivals, key=lambda known: known.confidence)
    if not twig.searched:
        return Known(twig.question)
    span = read(twig.question, passages)
    return Known(twig.question, span.answer, span.confidence, passage=span.passage)


def _from_parts(twig: Twig, parts: Sequence[Twig], passages: Sequence[Quote], steps: list[Step]) -> Known:
    """Bring the answers of a pair together, or the ends of a chain."""
    how = as_how(twig.together)
    if len(parts) >= 2:
        first, second = parts[-2:]
        values = _value(first, passages, steps), _value(second, passages, steps)
        return _joined(how, twig.question, (first.question, second.question), values)
    if how == "bridge" and parts and parts[0].place % 2:  # what failed is not shown; somebody has filled in its answer
        return _value(parts[0], passages, steps)
    ends = strands(twig)
    if how == "bridge" and len(ends) == 1:
        return ends[0]
    if how != "bridge" and len(ends) == 2:
        return _joined(how, twig.question, (ends[0].question, ends[1].question), (ends[0], ends[1]))
    return Known(twig.question)


def _joined(how: str, question: str, questions: Pair, values: tuple[Known, Known]) -> Known:
    """Bring two answers together; each counts where it is fit, and the sureness of what is used multiplies."""
    if how == "agree":
        return _agreed(question, values)
    told = [value.answer if value.fit else "" for value in values]
    answer = brought_together(as_how(how), questions, (told[0], told[1]))
    if how == "bridge":  # a guess that the second question was asked with may do, but it makes the answer no surer
        used = [value for value in values if value.answer]
    elif (how, answer) in _SETTLED_BY_ONE:
        used = [max((value for value in values if value.fit and value.answer == answer), key=lambda value: value.confidence)]
    else:
        used = [value for value in values if value.fit]
    return Known(question, answer, prod(value.confidence for value in used), tuple(used))


def _agreed(question: str, values: tuple[Known, Known]) -> Known:
    """Take what both halves tell of one thing, else what one of them tells much more surely than the other."""
    other, surer = sorted(values, key=lambda value: value.confidence)
    if surer.fit and other.fit and same(surer.answer, other.answer):
        return Known(question, surer.answer, 1 - (1 - surer.confidence) * (1 - other.confidence), (surer, other))
    if surer.fit and surer.confidence - other.confidence >= _LEAD:
        return Known(question, surer.answer, surer.confidence * _ALONE, (surer,))
    return Known(question)


def cited(known: Known, passages: Sequence[Quote]) -> list[int]:
    """Number the passages that an answer rests on: those of its parts, the last first; of a finding the one that speaks most of it."""
    if known.parts:
        return list(dict.fromkeys(number for part in reversed(known.parts) for number in cited(part, passages)))
    if known.passage:
        return [known.passage]
    texts = [f"{passage['title']} {passage['text']}" for passage in passages]
    words = content(known.question)
    holding = [n for n, text in enumerate(texts, 1) if known.answer in _VERDICTS or holds(text, known.answer)]
    return sorted(holding, key=lambda number: -len(words & content(texts[number - 1])))[:1]
