"""fill: put a sibling's answer into the question that waits for it."""

from ramify.nodes.settings import Settings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.selection import Waiting, waiting
from ramify.nodes.tree import UNKNOWN
from ramify.nodes.tree.notes import filled
from ramify.nodes.tree.references import HOLE
from ramify.tools.quoting import LONGEST_ANSWER, brief

UNFILLABLE = f"the question before it has no answer ({UNKNOWN})"


@each(waiting(), gives=("open", "pruned"))
def fill(given: Waiting, settings: Settings) -> Growth:
    """Open a waiting branch with its sibling's answer; prune it where the sibling has none."""
    settled = given.settled
    if settled is None or settled.answer is None:
        return grow(given.branch.to("pruned", note=f"{UNFILLABLE}: {given.sibling.path}"))
    told = ", ".join(filter(None, (filled(settled.answer, settled.path), given.doubt)))
    question = given.branch.question.replace(HOLE, brief(settled.answer, LONGEST_ANSWER))
    return grow(given.branch.to("open", question=question, awaits=given.sibling.path, note=told))
