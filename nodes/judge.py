"""judge: score a fork by the answers to its two sub-questions (ToR-RAG's LLM-as-a-Judge)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import TorSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import WEAKER
from ramify.prompts import JUDGE
from ramify.prompts.lenient_types import MAX_SCORE
from ramify.prompts.prompt import NO_ANSWER


@branch_step()
async def judge(branch: Branch, context: Context[TorSettings]) -> list[Branch]:
    """Score a fork by sufficiency, non-redundancy, consistency and decomposition; record the weaker half, if there is one.

    Of two halves of which one has no answer, that one is the weaker.
    """
    first, second = context.pair(branch)
    reply = await ask(
        JUDGE,
        field="sufficiency",
        question=branch.question,
        first=first.question,
        second=second.question,
        first_answer=_answer_text(first),
        second_answer=_answer_text(second),
        dependent=context.settings.dependent,
    )
    scores = {"score": reply.value.score, "sufficiency": reply.value.sufficiency / MAX_SCORE}
    weaker = {"1": first, "2": second}.get(reply.value.weaker)
    if first.known != second.known:
        weaker = second if first.known else first
    if weaker is None:
        return [branch.with_status("split", **scores, weaker=None)]
    return [
        branch.with_status("split", **scores, weaker=weaker.path),
        weaker.with_status(weaker.status, note=weaker.with_note(WEAKER)),
    ]


def _answer_text(branch: Branch) -> str:
    """Return a branch's answer, or that there is none."""
    return branch.answer if branch.answer is not None and branch.known else NO_ANSWER
