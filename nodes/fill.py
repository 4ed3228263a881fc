"""fill: insert a sibling's answer into the question that waits for it."""

from collections.abc import Sequence
from typing import Any

from ramify.nodes.prune import UNFILLABLE
from ramify.nodes.settings import UNSURE, Settings, TreeSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.step.review import (
    ANSWER,
    ReviewAction,
    ReviewDecision,
    apply_decision,
    check_answer,
    format_confidence,
    quote_text,
    review,
    to_argument,
)
from ramify.nodes.tree import Branch
from ramify.nodes.tree.answers import PLACEHOLDER, accepted_answer, confidence_note, sibling_of
from ramify.nodes.tree.notes import filled_note
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line


async def confirm_answers(branches: Sequence[Branch], results: list[list[Branch]], context: Context[TreeSettings]) -> list[list[Branch]]:
    """Have a person review unsure answers before they are inserted into questions; if rejected, the question is not asked."""
    if context.settings.reviewed != UNSURE:
        return results
    needed = [_answer_for(branch, context) for branch in branches]
    unsure = [(number, branches[number]) for number, answer in enumerate(needed) if answer.known and not context.accepts(answer)]
    if not unsure:
        return results
    decisions = await review([_review_action(branch, context) for _, branch in unsure])
    reviewed = {number: _apply_review(branch, decision, context) for (number, branch), decision in zip(unsure, decisions, strict=True)}
    return [reviewed.get(number, result) for number, result in enumerate(results)]


@branch_step(confirm=confirm_answers)
async def fill(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Open a waiting branch with its sibling's answer."""
    return [_fill_branch(branch, _answer_for(branch, context), context)]


def _answer_for(branch: Branch, context: Context[Any]) -> Branch:
    """Return the branch whose answer a waiting one needs."""
    sibling = sibling_of(context.tree, branch)
    return accepted_answer(context.tree, sibling) or sibling


def _fill_branch(branch: Branch, settled: Branch, context: Context[Any]) -> Branch:
    note = ", ".join(filter(None, (filled_note(settled.answer, settled.path), confidence_note(settled))))
    question = branch.question.replace(PLACEHOLDER, truncate_line(settled.answer or "", MAX_ANSWER_CHARS))
    awaits = sibling_of(context.tree, branch).path
    return branch.with_status("open", question=question, template=branch.question, awaits=awaits, note=note)


def _review_action(branch: Branch, context: Context[TreeSettings]) -> ReviewAction:
    """Return the action for reviewing an answer that a question needs."""
    settled = _answer_for(branch, context)
    asked = f"{quote_text(settled.question)} (branch {settled.path})"
    confidence = format_confidence(settled.confidence, context.settings).capitalize()
    description = f"Put this answer to {asked} into {quote_text(branch.question)}? {confidence}."
    return ReviewAction("use_answer", {ANSWER: to_argument(settled.answer)}, description, check_answer)


def _apply_review(branch: Branch, decision: ReviewDecision, context: Context[Any]) -> list[Branch]:
    """Return the question filled with the reviewed answer, and the branch of that answer."""
    settled = apply_decision(_answer_for(branch, context), decision)
    if settled.known:
        return [_fill_branch(branch, settled, context), settled]
    return [branch.with_status("pruned", note=branch.with_note(f"{UNFILLABLE}: {settled.path}")), settled]
