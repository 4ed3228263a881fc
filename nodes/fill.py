"""fill: put a sibling's answer into the question that waits for it (METHODS §5)."""

from ramify.nodes.decompose import HOLE
from ramify.nodes.select import UNFILLABLE, Waiting, waiting
from ramify.nodes.settings import Settings
from ramify.nodes.step import Growth, each, grow


@each(waiting(), gives=("open", "pruned"))
def fill(given: Waiting, settings: Settings) -> Growth:
    """Open a waiting branch with its sibling's answer; prune it where the sibling has none."""
    if given.answer is None:
        return grow(given.branch.to("pruned", note=f"{UNFILLABLE}: {given.sibling.path}"))
    doubt = f", {given.doubt}" if given.doubt else ""
    question = given.branch.question.replace(HOLE, given.answer)
    return grow(given.branch.to("open", question=question, note=f"filled with {given.answer!r} from {given.sibling.path}{doubt}"))
