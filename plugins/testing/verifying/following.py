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


def follow(tree: Tree, branch: Branch) -> Following | None:
    """Return the answer that follows from the branches below one; None if no rule is named for it."""
    below = [child for child in children(tree, branch.path) if child.status not in DROPPED and child.kind == "question"]
    for child in reversed(below):
        if answers_parent(child, branch) and (value := _value(tree, child)):
            return Following(value, f"the answer of {child.path}")
    if parse_combination(branch.together) in ("single", "bridge"):
        links = _chain(tree, branch)
        ends = _chain_ends(links) if len(links) > 1 else []
        return Following(ends[0].answer or "", f"the answer of {ends[0].path}") if len(ends) == 1 else None
    pair = below[-2:] if len(below) > 1 else _chain_ends(_chain(tree, branch))
    return _combine(tree, branch, pair) if len(pair) == 2 else None


def _combine(tree: Tree, branch: Branch, pair: list[Branch]) -> Following:
    """Return the comparison, or the yes or no, of two answers."""
    first, second = pair
    values = _value(tree, first), _value(tree, second)
    answer = combine_answers(parse_combination(branch.together), (first.question, second.question), values, by_meaning=False)
    shown = " and ".join(truncate_line(value, _SHOWN_CHARS) or "(no answer)" for value in values)
    return Following(answer, f"{branch.together}: {shown}")


def _value(tree: Tree, branch: Branch) -> str:
    """Return the answer that counts for a branch: its own, else the one that follows below it; empty if there is none."""
    if branch.known:
        return branch.answer or ""
    below = follow(tree, branch)
    return below.answer if below else ""


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
