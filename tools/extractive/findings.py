"""Replies to the prompts that combine findings, finalize and aggregate: the tree of findings, its answers, and their conflicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, get_args

from ramify.tools.arithmetic import Pair, as_how, brought_together, same
from ramify.tools.english import UNKNOWN, content, fold, holds, is_unknown, same_question
from ramify.tools.extractive import Reply, Slots
from ramify.tools.extractive.answers import answered
from ramify.tools.reader.calibration import LEAST
from ramify.tools.reader.reading import Quote
from ramify.tools.reader.short_answers import read

ROOT = "0"
Step = Literal["agreement", "trust", "majority", "fit", "unsettled"]
STEPS: tuple[Step, ...] = get_args(Step)
_LEAD = 0.15
"""By how much one finding must be surer than its rival to win by fit."""


@dataclass(frozen=True)
class Known:
    """A question with its answer, how sure that is, and what it was brought together from or the passage it was read in."""

    question: str = ""
    answer: str = ""
    confidence: float = 0.0
    parts: tuple["Known", ...] = ()
    passage: int = 0

    @property
    def fit(self) -> bool:
        """Tell whether the answer is fit to be given: no mere guess."""
        return bool(self.answer) and (bool(self.parts) or self.confidence >= LEAST)


@dataclass
class Twig:
    """A branch as the findings show it, with those below it that hold."""

    question: str
    together: str = ""
    own: Known = Known()
    searched: bool = False
    """Whether passages were found for it, but not read."""
    twigs: list["Twig"] = field(default_factory=list)
    place: int = 0
    """Its number among its siblings: they come in pairs."""


def grown(question: str, findings: Sequence[Mapping[str, Any]]) -> Twig:
    """Hang findings under the branch that asks the question, by their paths and by what was asked above them."""
    above = [higher for finding in findings for higher in finding.get("above", ())]
    twigs = {higher["path"]: Twig(higher["question"], higher["together"]) for higher in above}
    for finding in findings:
        if finding["kind"] == "question" and finding["status"] != "pruned":
            twigs[finding["path"]] = _twig(finding)
        else:
            twigs.pop(finding["path"], None)
    root = twigs.setdefault(ROOT, Twig(question))
    for path in sorted(twigs, key=lambda path: [int(step) for step in path.split(".")]):
        above_it, _, place = path.rpartition(".")
        twigs[path].place = int(place)
        if (parent := twigs.get(above_it)) is not None:
            parent.twigs.append(twigs[path])
    asking = [path for path in twigs if same_question(twigs[path].question, question)]
    return twigs[min(asking, key=len)] if asking else root


def _twig(finding: Mapping[str, Any]) -> Twig:
    question, answer = finding["question"], str(finding["answer"] or "")
    lost = is_unknown(answer) or finding["status"] == "failed"
    known = Known() if lost else Known(question, answer, float(finding["confidence"] or 0.0))
    return Twig(question, finding.get("together", ""), known, searched=not answer and finding["status"] == "leaf")


def strands(twig: Twig) -> list[Known]:
    """Give what the ends of a chain came to: a chain asks one question after another, and an end is an answer that no later one uses."""
    links: list[Twig] = []
    while len(twig.twigs) == 1:
        twig = twig.twigs[0]
        links.append(twig)
    questions = {fold(link.question) for link in links}
    if twig.twigs or len(links) < 2 or len(questions) < len(links) or any(link.together for link in links):
        return []
    ends = [place for place in range(len(links)) if not any(holds(later.question, links[place].own.answer) for later in links[place + 1 :])]
    return [_strand([link.own for link in links[: end + 1]], links[end].question) for end in ends]


def _strand(told: list[Known], asked: str) -> Known:
    """Follow an end back to the question that it began with."""
    *before, end = told
    strand = [end]
    for link in reversed(before):
        if holds(asked, link.answer):
            strand.insert(0, link)
            asked = link.question
    return Known(asked, end.answer, prod(link.confidence for link in strand), tuple(strand)) if end.fit else Known(asked)


def settled(rivals: Sequence[Known], passages: Sequence[Quote]) -> tuple[Known, Step]:
    """Keep one of several answers to a question: by trust, then majority, then fit, else none; and name the step that settled it."""
    surest = max(rivals, key=lambda item: item.confidence)
    if all(same(surest.answer, item.answer) for item in rivals):
        return surest, "agreement"
    # What several sources repeat is to be trusted more.
    sources = {fold(item.answer): len({told["source"] for told in passages if holds(told["text"], item.answer)}) for item in rivals}
    votes: dict[Step, Counter[str]] = {
        "trust": Counter(sources),
        "majority": Counter(fold(item.answer) for item in rivals),
    }
    for step, counted in votes.items():
        best, second = counted.most_common(2)
        if best[1] > second[1] and (step == "majority" or second[1] > 0):
            return next(item for item in rivals if fold(item.answer) == best[0]), step
    rival = max(item.confidence for item in rivals if not same(item.answer, surest.answer))
    return (surest, "fit") if surest.confidence - rival >= _LEAD else (Known(surest.question), "unsettled")


_ALONE = 0.8
"""What the confidence of one answer is multiplied by where two should agree and one is surer by _LEAD."""
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
