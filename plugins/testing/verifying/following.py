"""Compute an answer again from the answers that it was combined from, by the rules of the strategies: no model, no encoder."""

from typing import NamedTuple

from ramify.embedded.arithmetic import combine_answers, parse_combination
from ramify.nodes.tree import DROPPED, Branch, Tree, children
from ramify.nodes.tree.answers import answers_parent
from ramify.tools.names import contains_name
from ramify.tools.quoting import truncate_line

_SHOWN_CHARS = 40


class Following(NamedTuple):
    """An answer that follows from others, and the rule, as a reason that a person can follow; empty if they do not determine it."""

    answer: str
    rule: str
    is_computed: bool = False
    """Whether it is the result of a comparison or of arithmetic, which nobody can word otherwise."""


def follow(tree: Tree, branch: Branch) -> Following | None:
    """Return the answer that follows from the branches below one; None if no rule is named for it."""
    below = [child for child in children(tree, branch.path) if child.status not in DROPPED and child.kind == "question"]
    values = {child.path: _value(tree, child) for child in below}
    for child in reversed(below):
        if answers_parent(child, branch) and values[child.path]:
            return Following(values[child.path], f"the answer of {child.path}")
    if len(below) > 1:
        return _combine(branch, [(child.question, values[child.path]) for child in below[-2:]])
    links = _chain(tree, branch)
    ends = _chain_ends(links)
    if len(links) > 1 and len(ends) == 1:
        return Following(ends[0].answer or "", f"the answer of {ends[0].path}")
    return _combine(branch, [(_asked_first(links, end), end.answer or "") for end in ends]) if len(ends) == 2 else None


def _combine(branch: Branch, pair: list[tuple[str, str]]) -> Following | None:
    """Return the comparison, or the yes or no, of two questions with their answers; None if the branch names none."""
    how = parse_combination(branch.together)
    if how in ("single", "bridge"):
        return None
    (one, first), (other, second) = pair
    answer = combine_answers(how, (one, other), (first, second), by_meaning=False)
    shown = " and ".join(truncate_line(value, _SHOWN_CHARS) or "(no answer)" for value in (first, second))
    return Following(answer, f"{how}: {shown}", is_computed=True)


def _value(tree: Tree, branch: Branch) -> str:
    """Return the answer that counts for a branch: the one that follows below it, else its own; empty if there is none."""
    below = follow(tree, branch)
    return (below.answer if below else "") or (branch.answer or "" if branch.known else "")


def _chain(tree: Tree, branch: Branch) -> list[Branch]:
    """List the questions that were asked one after the other, each below the one before; empty if they are no chain."""
    links: list[Branch] = []
    while len(below := children(tree, (links[-1] if links else branch).path)) == 1:
        links += below
    return [] if below else links


def _chain_ends(links: list[Branch]) -> list[Branch]:
    """List the questions of a chain whose answers no later question contains."""
    known = [(place, link) for place, link in enumerate(links) if link.known and link.status not in DROPPED]
    return [link for place, link in known if not any(contains_name(later.question, link.answer or "") for later in links[place + 1 :])]


def _asked_first(links: list[Branch], end: Branch) -> str:
    """Return the question with which a chain began that led to its end: it names what is compared."""
    question = end.question
    for link in reversed(links[: links.index(end)]):
        if link.known and contains_name(question, link.answer or ""):
            question = link.question
    return question
