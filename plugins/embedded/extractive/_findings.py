"""Replies to the prompts finalize and aggregate: combine the answers of the tree of findings and settle conflicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, get_args

from ramify.embedded.arithmetic import TextPair, combine_answers, is_same_answer, parse_combination
from ramify.embedded.extractive import ReplyFields, Slots
from ramify.embedded.extractive._answers import answer_fields
from ramify.embedded.reader.calibration import MIN_CONFIDENCE
from ramify.embedded.reader.reading import PassageText
from ramify.embedded.reader.short_answers import read_answer
from ramify.tools.english import content_stems, fold, same_question
from ramify.tools.names import contains_name
from ramify.tools.no_answer import UNKNOWN, is_unknown

ROOT_PATH = "0"
SettlingStep = Literal["agreement", "trust", "majority", "fit", "unsettled"]
SETTLING_STEPS: tuple[SettlingStep, ...] = get_args(SettlingStep)
_MIN_LEAD = 0.15
"""Least lead in confidence of a finding over its rival to win by fit."""
_SINGLE_ANSWER_FACTOR = 0.8
"""Factor on the confidence of one of two answers that should agree, if it leads by _MIN_LEAD."""
_DECIDED_BY_ONE = (("both", "No"), ("either", "Yes"))


@dataclass(frozen=True)
class KnownAnswer:
    """A question with its answer and confidence, and the answers it was combined from or the number of its passage."""

    question: str = ""
    answer: str = ""
    confidence: float = 0.0
    parts: tuple["KnownAnswer", ...] = ()
    passage: int = 0

    @property
    def is_usable(self) -> bool:
        """Return whether the confidence suffices, or the answer was combined from others."""
        return bool(self.answer) and (bool(self.parts) or self.confidence >= MIN_CONFIDENCE)


@dataclass
class FindingNode:
    """A branch of the tree of findings, with its children."""

    question: str
    together: str = ""
    own: KnownAnswer = KnownAnswer()
    searched: bool = False
    """Whether passages were retrieved for it, but not read."""
    children: list["FindingNode"] = field(default_factory=list)
    place: int = 0
    """Its index among its siblings, which come in pairs."""


def finalize(slots: Slots) -> ReplyFields:
    """Answer the whole question from the findings, and return the step that settled conflicts."""
    reply, step = _conclusion(slots)
    return {**reply, "settled_by": "unsettled" if reply["answer"] == UNKNOWN and step == "agreement" else step}


def aggregate(slots: Slots) -> ReplyFields:
    """Answer a question from the findings of its sub-questions."""
    return _conclusion(slots)[0]


def _conclusion(slots: Slots) -> tuple[ReplyFields, SettlingStep]:
    """Return the answer of the tree of findings; without one, that of the passages to the question itself."""
    question, passages = slots["question"], slots["passages"]
    steps: list[SettlingStep] = ["agreement"]
    finding = _branch_answer(finding_tree(question, slots["findings"]), passages, steps)
    step = max(steps, key=SETTLING_STEPS.index)
    if finding.is_usable:
        return {"answer": finding.answer, "confidence": finding.confidence, "citations": cited_passages(finding, passages)}, step
    if step == "unsettled":
        return {"answer": UNKNOWN, "confidence": 0.0, "citations": []}, step
    return answer_fields(read_answer(question, passages)), step


def finding_tree(question: str, findings: Sequence[Mapping[str, Any]]) -> FindingNode:
    """Build the tree of findings from their paths and parent questions; return the node of the question."""
    above = [higher for finding in findings for higher in finding.get("above", ())]
    nodes = {higher["path"]: FindingNode(higher["question"], higher["together"]) for higher in above}
    for finding in findings:
        if finding["kind"] == "question" and finding["status"] != "pruned":
            asked, answer = finding["question"], str(finding["answer"] or "")
            lost = is_unknown(answer) or finding["status"] == "failed"
            own = KnownAnswer() if lost else KnownAnswer(asked, answer, float(finding["confidence"] or 0.0))
            searched = not answer and finding["status"] == "leaf"
            nodes[finding["path"]] = FindingNode(asked, finding.get("together", ""), own, searched)
        else:
            nodes.pop(finding["path"], None)
    root = nodes.setdefault(ROOT_PATH, FindingNode(question))
    for path in sorted(nodes, key=lambda path: [int(step) for step in path.split(".")]):
        parent, _, place = path.rpartition(".")
        nodes[path].place = int(place)
        if parent in nodes:
            nodes[parent].children.append(nodes[path])
    asking = [path for path in nodes if same_question(nodes[path].question, question)]
    return nodes[min(asking, key=len)] if asking else root


def _branch_answer(node: FindingNode, passages: Sequence[PassageText], steps: list[SettlingStep]) -> KnownAnswer:
    """Return the answer of a branch: combined from its parts, else its own, else read from its passages now."""
    parts = [child for child in node.children if not same_question(child.question, node.question)]
    if (combined := _combine_parts(node, parts, passages, steps)).is_usable:
        return combined
    again = [_branch_answer(child, passages, steps) for child in node.children if child not in parts]
    rivals = [finding for finding in (node.own, *again) if finding.answer]
    if sum(finding.is_usable for finding in again) > 1:
        best, step = resolve_conflict([finding for finding in rivals if finding.is_usable], passages)
        steps.append(step)
        return best
    if rivals:
        return max(rivals, key=lambda finding: finding.confidence)
    if not node.searched:
        return KnownAnswer(node.question)
    span = read_answer(node.question, passages)
    return KnownAnswer(node.question, span.answer, span.confidence, passage=span.passage)


def _combine_parts(
    node: FindingNode, parts: Sequence[FindingNode], passages: Sequence[PassageText], steps: list[SettlingStep]
) -> KnownAnswer:
    """Return the combined answer of a pair of sub-questions, or of the ends of a chain."""
    how = parse_combination(node.together)
    if len(parts) >= 2:
        first, second = parts[-2:]
        values = _branch_answer(first, passages, steps), _branch_answer(second, passages, steps)
        return _combine_pair(how, node.question, (first.question, second.question), values)
    if how == "bridge" and parts and parts[0].place % 2:  # a failed first question is not listed
        return _branch_answer(parts[0], passages, steps)
    ends = chain_ends(node)
    if how == "bridge" and len(ends) == 1:
        return ends[0]
    if how != "bridge" and len(ends) == 2:
        return _combine_pair(how, node.question, (ends[0].question, ends[1].question), (ends[0], ends[1]))
    return KnownAnswer(node.question)


def _combine_pair(how: str, question: str, questions: TextPair, values: tuple[KnownAnswer, KnownAnswer]) -> KnownAnswer:
    """Return the combination of two usable answers; the confidences of those used are multiplied."""
    if how == "agree":
        other, surer = sorted(values, key=lambda value: value.confidence)
        if surer.is_usable and other.is_usable and is_same_answer(surer.answer, other.answer):
            return KnownAnswer(question, surer.answer, 1 - (1 - surer.confidence) * (1 - other.confidence), (surer, other))
        if surer.is_usable and surer.confidence - other.confidence >= _MIN_LEAD:
            return KnownAnswer(question, surer.answer, surer.confidence * _SINGLE_ANSWER_FACTOR, (surer,))
        return KnownAnswer(question)
    first, second = (value.answer if value.is_usable else "" for value in values)
    answer = combine_answers(parse_combination(how), questions, (first, second))
    if how == "bridge":  # the first answer may be a guess, which lowers the confidence
        used = [value for value in values if value.answer]
    elif (how, answer) in _DECIDED_BY_ONE:
        used = [max((value for value in values if value.is_usable and value.answer == answer), key=lambda value: value.confidence)]
    else:
        used = [value for value in values if value.is_usable]
    return KnownAnswer(question, answer, prod(value.confidence for value in used), tuple(used))


def chain_ends(node: FindingNode) -> list[KnownAnswer]:
    """Return the ends of a chain of sequential questions: the answers that no later question contains."""
    links: list[FindingNode] = []
    while len(node.children) == 1:
        node = node.children[0]
        links.append(node)
    questions = {fold(link.question) for link in links}
    if node.children or len(links) < 2 or len(questions) < len(links) or any(link.together for link in links):
        return []
    ends = [
        place
        for place in range(len(links))
        if not any(contains_name(later.question, links[place].own.answer) for later in links[place + 1 :])
    ]
    return [_chain_answer([link.own for link in links[:end]], links[end]) for end in ends]


def _chain_answer(before: list[KnownAnswer], last: FindingNode) -> KnownAnswer:
    """Return the answer of a chain's last question, as an answer to the chain's first question."""
    asked, end = last.question, last.own
    strand = [end]
    for link in reversed(before):
        if contains_name(asked, link.answer):
            strand.insert(0, link)
            asked = link.question
    return KnownAnswer(asked, end.answer, prod(link.confidence for link in strand), tuple(strand)) if end.is_usable else KnownAnswer(asked)


def resolve_conflict(rivals: Sequence[KnownAnswer], passages: Sequence[PassageText]) -> tuple[KnownAnswer, SettlingStep]:
    """Return the answer chosen by trust, majority or fit, in this order, else an empty one; and the step that settled it."""
    surest = max(rivals, key=lambda item: item.confidence)
    if all(is_same_answer(surest.answer, item.answer) for item in rivals):
        return surest, "agreement"
    # trust: the number of sources that contain an answer
    sources = {
        fold(item.answer): len({quote["source"] for quote in passages if contains_name(quote["text"], item.answer)}) for item in rivals
    }
    votes: dict[SettlingStep, Counter[str]] = {"trust": Counter(sources), "majority": Counter(fold(item.answer) for item in rivals)}
    for step, counted in votes.items():
        best, second = counted.most_common(2)
        if best[1] > second[1] and (step == "majority" or second[1] > 0):
            return next(item for item in rivals if fold(item.answer) == best[0]), step
    rival = max(item.confidence for item in rivals if not is_same_answer(item.answer, surest.answer))
    return (surest, "fit") if surest.confidence - rival >= _MIN_LEAD else (KnownAnswer(surest.question), "unsettled")


def cited_passages(finding: KnownAnswer, passages: Sequence[PassageText]) -> list[int]:
    """Return the numbers of the passages that support an answer: those of its parts, the last first, else the best match."""
    if finding.parts:
        return list(dict.fromkeys(number for part in reversed(finding.parts) for number in cited_passages(part, passages)))
    if finding.passage:
        return [finding.passage]
    texts = [f"{passage['title']} {passage['text']}" for passage in passages]
    words = content_stems(finding.question)
    holding = [n for n, text in enumerate(texts, 1) if finding.answer in ("Yes", "No") or contains_name(text, finding.answer)]
    return sorted(holding, key=lambda number: -len(words & content_stems(texts[number - 1])))[:1]
