"""fill: put a sibling's answer into the question that waits for it."""

from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, StepResult, branch_step, result
from ramify.nodes.step.task import accepted_answer, confidence_note, sibling_of
from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import filled
from ramify.nodes.tree.tree import HOLE
from ramify.tools.quoting import LONGEST_ANSWER, brief


@branch_step()
async def fill(branch: Branch, context: Context[Settings]) -> StepResult:
    """Open a waiting branch with its sibling's answer."""
    sibling = sibling_of(context.tree, branch)
    settled = accepted_answer(context.tree, sibling) or sibling
    told = ", ".join(filter(None, (filled(settled.answer, settled.path), confidence_note(settled))))
    question = branch.question.replace(HOLE, brief(settled.answer or "", LONGEST_ANSWER))
    return result(branch.to("open", question=question, awaits=sibling.path, note=told))
