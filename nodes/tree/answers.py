"""Answers: whose answer serves a branch, and the references to answers in the questions that build on them."""

import re
from collections.abc import Iterable, Sequence

from ramify.nodes.tree import DROPPED, Branch, Tree, children, normalized_key, position
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line

HOLE = "{1}"
"""Where the answer of the first sub-question belongs in the second."""

_NUMBERED = re.compile(r"(?:(?:the )?(?:answer|result) (?:of|to|from) (?:(?:sub-?)?question )?)?(?<![\w&])#(\d{1,2})\b", re.IGNORECASE)
"""`#1`, as the data sets write it."""
_BRACKETED = re.compile(r"([\[{<(])\1?([^\[\]{}<>()]{1,40})([\]}>)])\3?")
_ORDER = {"first": 1, "one": 1, "previous": 1, "second": 2, "two": 2}
_ANSWER = frozenset({"answer", "answers", "result"})
_BESIDE = frozenset({"the", "of", "to", "from", "for", "question", "subquestion", "sub", "part", *_ORDER})
_MARK = re.compile(r"\{(\d{1,2})\}")


def find_duplicate(tree: Tree, branch: Branch) -> Branch | None:
    """Find another branch that asks the same: one that has its answer, or one before it that will or that is divided.

    An ancestor never counts. A branch that another waits for is asked itself where nothing else would come of it.
    """
    for other in tree.values():
        related = f"{other.path}.".startswith(f"{branch.path}.") or branch.path.startswith(f"{other.path}.")
        if related or normalized_key(other) != normalized_key(branch):
            continue
        before = other.status not in DROPPED and position(other.path) < position(branch.path)
        if other.answer is not None or (before and (other.next or not awaited(tree, branch))):
            return other
    return None


def copy_answer(branch: Branch, original: Branch) -> Branch:
    """Copy what came of the original."""
    note = f"same question as {original.path}"
    if original.answer is None:
        return branch.to("failed" if original.status == "failed" else "leaf", note=f"{note}: see there")
    copied = original.model_dump(include={"answer", "confidence", "confidence_source", "evidence", "cited"})
    return branch.to("leaf" if branch.kind == "entity" else "answered", note=note, **copied)


def accepted_answer(tree: Tree, branch: Branch) -> Branch | None:
    """Find the branch whose answer counts for this one's question: the last that nothing was objected to; else the last that is known."""
    answers = _answers(tree, branch)
    accepted = [answer for answer in answers if not answer.objection] or answers
    return accepted[-1] if accepted else None


def answers_parent(child: Branch, parent: Branch) -> bool:
    """Tell whether a child's answer is its parent's: it asks the same once more, or is the last hop of a bridge.

    The half of a comparison asks for something else, and what is said of an entity answers no question.
    """
    return child.kind == parent.kind == "question" and (child.awaits is not None or normalized_key(child) == normalized_key(parent))


def awaited(tree: Tree, branch: Branch) -> bool:
    """Tell whether another branch waits for this one's answer, or for one that is brought together from it."""
    lines = [branch, *(other for other in tree.values() if branch.path.startswith(f"{other.path}."))]
    wanted = {sibling_of(tree, other).path for other in tree.values() if other.status == "waiting"}
    return any(line.path in wanted for line in lines)


def sibling_of(tree: Tree, branch: Branch) -> Branch:
    """Find the sibling that a waiting branch refers to; where it does not say, the one just before it."""
    head, _, last = branch.path.rpartition(".")
    return tree[branch.awaits or f"{head}.{int(last) - 1}"]


def confidence_note(settled: Branch) -> str:
    """Say how sure an answer is, and that it was taken for want of a surer one."""
    if settled.confidence is None:
        return ""
    return f"{'nothing surer, ' if settled.objection else ''}confidence {settled.confidence:.3f}"


def _answers(tree: Tree, branch: Branch) -> list[Branch]:
    """List the answers to a branch's question, its own first; the answer of an inner branch is already that of all below it."""
    own = [branch] if branch.known and branch.kind == "question" else []
    if branch.aggregated:
        return own
    below = [child for child in children(tree, branch.path) if child.status != "pruned" and answers_parent(child, branch)]
    return own + (_answers(tree, below[-1]) if below else [])


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
    return _MARK.sub(lambda match: truncate_line(answers[int(match[1]) - 1] or "", MAX_ANSWER_CHARS), question)


def _number(bracket: str, inside: str) -> int | None:
    """Tell which answer is meant between brackets; None where it is something else."""
    words = re.findall(r"[^\W\d_]+|\d+", inside.casefold())
    numbers = [int(word) for word in words if word.isdecimal()] + [_ORDER[word] for word in words if word in _ORDER]
    if bracket != "(" and re.fullmatch(r"\s*#?\d{1,2}\s*", inside):
        return numbers[0]
    if _ANSWER.isdisjoint(words) or len(numbers) > 1 or not all(word.isdecimal() or word in _ANSWER | _BESIDE for word in words):
        return None
    return numbers[0] if numbers else 1
