"""fill: put a sibling's answer into the question that waits for it."""

from collections.abc import Sequence
from typing import Any

from ramify.nodes.prune import UNFILLABLE
from ramify.nodes.settings import UNSURE, Settings, TreeSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.step.review import ANSWER, Action, Decision, as_argument, as_quoted, check_answer, decided, how_sure, review
from ramify.nodes.tree import Branch
from ramify.nodes.tree.answers import HOLE, accepted_answer, confidence_note, sibling_of
from ramify.nodes.tree.notes import filled_with
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line


async def confirm_answers(branches: Sequence[Branch], results: list[list[Branch]], context: Context[TreeSettings]) -> list[list[Branch]]:
    """Ask a person about the unsure answers before they are put into questions; without its answer a question is not asked."""
    if context.settings.reviewed != UNSURE:
        return results
    needed = [_answer_for(branch, context) for branch in branches]
    unsure = [(place, branches[place]) for place, answer in enumerate(needed) if answer.known and not context.accepts(answer)]
    if not unsure:
        return results
    decisions = await review([_proposed(branch, context) for _, branch in unsure])
    reviewed = {place: _decided(branch, one, context) for (place, branch), one in zip(unsure, decisions, strict=True)}
    return [reviewed.get(place, found) for place, found in enumerate(results)]


@branch_step(confirm=confirm_answers)
async def fill(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Open a waiting branch with its sibling's answer."""
    return [_filled(branch, _answer_for(branch, context), context)]


def _answer_for(branch: Branch, context: Context[Any]) -> Branch:
    """Return the branch whose answer a waiting one needs."""
    sibling = sibling_of(context.tree, branch)
    return accepted_answer(context.tree, sibling) or sibling


def _filled(branch: Branch, settled: Branch, context: Context[Any]) -> Branch:
    told = ", ".join(filter(None, (filled_with(settled.answer, settled.path), confidence_note(settled))))
    question = branch.question.replace(HOLE, truncate_line(settled.answer or "", MAX_ANSWER_CHARS))
    return branch.to("open", question=question, awaits=sibling_of(context.tree, branch).path, note=told)


def _proposed(branch: Branch, context: Context[TreeSettings]) -> Action:
    """Return what a person is asked about an answer that a question needs."""
    settled = _answer_for(branch, context)
    asked = f"{as_quoted(settled.question)} (branch {settled.path})"
    told = f"Put this answer to {asked} into {as_quoted(branch.question)}? {how_sure(settled.confidence, context.settings).capitalize()}."
    return Action("use_answer", {ANSWER: as_argument(settled.answer)}, told, check_answer)


def _decided(branch: Branch, decision: Decision, context: Context[Any]) -> list[Branch]:
    """Return the question with the answer that a person decided on, and the branch of that answer."""
    settled = decided(_answer_for(branch, context), decision)
    if settled.known:
        return [_filled(branch, settled, context), settled]
    return [branch.to("pruned", note=branch.noted(f"{UNFILLABLE}: {settled.path}")), settled]
