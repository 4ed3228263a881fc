"""What was found out: answers with their questions, how they hang together in a tree, and which of several holds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, get_args

from ramify.tools.arithmetic.same_answer import same
from ramify.tools.english import holds, same_question
from ramify.tools.folded_text import fold
from ramify.tools.reader.calibration import LEAST
from ramify.tools.reader.inputs import Quote
from ramify.tools.unknown import is_unknown

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
