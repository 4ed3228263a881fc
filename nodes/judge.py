"""judge: score a fork by the answers to its two sub-questions (ToR-RAG's LLM-as-a-Judge)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import TorSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import WEAKER
from ramify.prompts import JUDGE
from ramify.prompts.prompt import NO_ANSWER


@branch_step()
async def judge(branch: Branch, context: Context[TorSettings]) -> list[Branch]:
    """Score a fork by sufficiency, non-redundancy, consistency and decomposition; record the weaker half, if there is one."""
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
    weaker = next((half for half, place in ((first, "1"), (second, "2")) if place == reply.value.weaker), None)
    if weaker is None:
        return [branch.with_status("split", score=reply.value.score, weaker=None)]
    return [
        branch.with_status("split", score=reply.value.score, weaker=weaker.path),
        weaker.with_status(weaker.status, note=weaker.with_note(WEAKER)),
    ]


def _answer_text(branch: Branch) -> str:
    """Return a branch's answer, or that there is none."""
    return branch.answer if branch.answer is not None and branch.known else NO_ANSWER
