"""Answers: which answer counts for a branch, and references to answers in dependent questions."""

import re
from collections.abc import Iterable, Sequence

from ramify.nodes.tree import DROPPED, Branch, Tree, children, normalized_key, position
from ramify.nodes.tree.notes import confidence_figure
from ramify.tools.english import fold
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line

PLACEHOLDER = "{1}"
"""Placeholder in the second sub-question for the answer to the first."""

_NUMBERED = re.compile(r"(?:(?:the )?(?:answer|result) (?:of|to|from) (?:(?:sub-?)?question )?)?(?<![\w&])#(\d{1,2})\b", re.IGNORECASE)
"""`#1`, as the data sets write it."""
_BRACKETED = re.compile(r"([\[{<(])\1?([^\[\]{}<>()]{1,40})([\]}>)])\3?")
_ORDER = {"first": 1, "one": 1, "previous": 1, "second": 2, "two": 2}
_ANSWER_WORDS = frozenset({"answer", "answers", "result"})
_FILLER_WORDS = frozenset({"the", "of", "to", "from", "for", "question", "subquestion", "sub", "part", *_ORDER})
_PLACEHOLDERS = re.compile(r"\{(\d{1,2})\}")


def find_duplicate(tree: Tree, branch: Branch) -> Branch | None:
    """Return another branch with the same question: one that has an answer, or an earlier one that will have it or was split.

    Of two that are both asked again, the earlier one is asked. Ancestors and descendants do not count. An awaited branch is no duplicate
    of one that is not being processed.
    """
    for other in tree.values():
        related = f"{other.path}.".startswith(f"{branch.path}.") or branch.path.startswith(f"{other.path}.")
        if related or normalized_key(other) != normalized_key(branch):
            continue
        first = position(other.path) < position(branch.path)
        before = first and other.status not in DROPPED
        if (other.answer is not None and (first or not other.next)) or (before and (other.next or not is_awaited(tree, branch))):
            return other
    return None


def copy_answer(branch: Branch, original: Branch) -> Branch:
    """Return the branch with the answer or failure of the original; one with an objection is not asked again."""
    note = f"same question as {original.path}"
    if original.answer is None:
        return branch.with_status("failed" if original.status == "failed" else "leaf", note=f"{note}: see there")
    copied = original.model_dump(include={"answer", "confidence", "confidence_source", "evidence", "cited"})
    reconsidered = original.reconsidered or bool(branch.objection)
    return branch.with_status("leaf" if branch.kind == "entity" else "answered", note=note, reconsidered=reconsidered, **copied)


def accepted_answer(tree: Tree, branch: Branch) -> Branch | None:
    """Return the branch whose answer counts for this question: the last without an objection, otherwise the last known one."""
    answers = _answers(tree, branch)
    accepted = [answer for answer in answers if not answer.objection] or answers
    return accepted[-1] if accepted else None


def repeats_answer(answer: str, earlier: str) -> bool:
    """Return whether an answer has the words of an earlier one, or some of them and no other: `Paris`, `Paris, France`."""
    one, other = (set(fold(text).split()) or {text.strip()} for text in (answer, earlier))
    return one <= other or other <= one


def repeated_hop(tree: Tree, branch: Branch, answer: str) -> Branch | None:
    """Return the hop whose answer an answer only repeats, that of the question it was asked with or of one below it; None if none.

    A question about what another one has found asks for something else: "Where was {1} born?" is not answered by the name.
    """
    awaited = [other.awaits for other in (branch, *children(tree, branch.path)) if other.status not in DROPPED]
    hops = [tree[path] for path in awaited if path is not None and path in tree]
    words = set(fold(answer).split())
    return next((hop for hop in hops if hop.known and words and words <= set(fold(hop.answer or "").split())), None)


def answers_parent(child: Branch, parent: Branch) -> bool:
    """Return whether a child's answer is its parent's: it asks the same question, or is the last hop of a bridge.

    One half of a comparison does not answer its parent, nor does the summary of an entity.
    """
    return child.kind == parent.kind == "question" and (child.awaits is not None or normalized_key(child) == normalized_key(parent))


def is_awaited(tree: Tree, branch: Branch) -> bool:
    """Return whether another branch waits for this one's answer, or for one combined from it."""
    lines = [branch, *(other for other in tree.values() if branch.path.startswith(f"{other.path}."))]
    wanted = {sibling_of(tree, other).path for other in tree.values() if other.status == "waiting"}
    return any(line.path in wanted for line in lines)


def sibling_of(tree: Tree, branch: Branch) -> Branch:
    """Return the sibling that a waiting branch refers to, by default the one before it."""
    head, _, last = branch.path.rpartition(".")
    return tree[branch.awaits or f"{head}.{int(last) - 1}"]


def confidence_note(settled: Branch) -> str:
    """Return a note with an answer's confidence, and that no surer answer was found, if so."""
    if settled.confidence is None:
        return ""
    return f"{'nothing surer, ' if settled.objection else ''}confidence {confidence_figure(settled.confidence, 3)}"


def _answers(tree: Tree, branch: Branch) -> list[Branch]:
    """List the answers to a branch's question, its own first; the answer of an inner branch is already that of all below it."""
    own = [branch] if branch.known and branch.kind == "question" else []
    if branch.aggregated:
        return own
    below = [child for child in children(tree, branch.path) if child.status != "pruned" and answers_parent(child, branch)]
    return own + (_answers(tree, below[-1]) if below else [])


def normalize_references(question: str, said: Iterable[str] = ()) -> str:
    """Return a question with references to answers written as `{1}`; those that occur in the texts `said` stay as they are."""
    before = " ".join(said)

    def written(number: int | None, text: str) -> str:
        return text if number is None or text in before else f"{{{number}}}"

    text = _BRACKETED.sub(lambda match: written(_reference_number(match[1], match[2]), match[0]), question.strip())
    return _NUMBERED.sub(lambda match: written(None if f"#{match[1]}" in before else int(match[1]), match[0]), text)


def reference_numbers(question: str) -> frozenset[int]:
    """Return the numbers of the answers that a normalized question refers to."""
    return frozenset(map(int, _PLACEHOLDERS.findall(question)))


def fill_references(question: str, answers: Sequence[str | None]) -> str | None:
    """Return a normalized question with its references replaced by answers, shortened to a line; None if an answer is missing."""
    if any(not 0 < number <= len(answers) or answers[number - 1] is None for number in reference_numbers(question)):
        return None
    return _PLACEHOLDERS.sub(lambda match: truncate_line(answers[int(match[1]) - 1] or "", MAX_ANSWER_CHARS), question)


def _reference_number(bracket: str, inside: str) -> int | None:
    """Return the number of the answer that a bracketed text refers to; None if it is no reference."""
    words = re.findall(r"[^\W\d_]+|\d+", inside.casefold())
    numbers = [int(word) for word in words if word.isdecimal()] + [_ORDER[word] for word in words if word in _ORDER]
    if bracket != "(" and re.fullmatch(r"\s*#?\d{1,2}\s*", inside):
        return numbers[0]
    if (
        _ANSWER_WORDS.isdisjoint(words)
        or len(numbers) > 1
        or not all(word.isdecimal() or word in _ANSWER_WORDS | _FILLER_WORDS for word in words)
    ):
        return None
    return numbers[0] if numbers else 1
