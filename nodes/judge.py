"""judge: score a fork by what came of its two sub-questions (ToR-RAG's LLM-as-a-Judge); rubric: score the pair before it is searched."""

from typing import Any

from ramify.nodes.asking.ask import ask
from ramify.nodes.prune import weaken
from ramify.nodes.settings import TorSettings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.selection import CARRIED, Fork, answered_fork, fresh_fork
from ramify.nodes.tree import UNKNOWN, Branch
from ramify.nodes.tree.notes import WEAKER
from ramify.prompts import JUDGE, RUBRIC


@each(answered_fork("split"), gives=("judged",))
async def judge(fork: Fork, settings: TorSettings) -> Growth:
    """Score a fork by sufficiency, non-redundancy, consistency and decomposition."""
    first, second = fork.pair
    reply = await ask(
        JUDGE,
        field="sufficiency",
        question=fork.branch.question,
        first=first.question,
        second=second.question,
        first_answer=said(first),
        second_answer=said(second),
        dependent=settings.dependent,
    )
    weaker = fork.pair[int(reply.value.weaker) - 1]
    noted = weaker.to(weaker.status, note=weaker.noted(WEAKER))
    return grow(fork.branch.to("judged", score=reply.value.score, weaker=weaker.path), noted)


@each(fresh_fork("split"), gives=("split", "growing", "leaf", "open", "pruned"))
async def rubric(fork: Fork, settings: TorSettings) -> Growth:
    """Score a new pair of sub-questions before retrieval; an invalid one counts as a failed fork."""
    first, second = fork.pair
    slots: dict[str, Any] = {
        "question": fork.branch.question,
        "first": first.question,
        "second": second.question,
        "dependent": settings.dependent,
    }
    reply = await ask(RUBRIC, field="verdict", **slots)
    if reply.value.verdict == "VALID":
        return grow(fork.branch.to("split", note=fork.branch.noted(f"pair scored {reply.value.score:g} of 5")))
    # A half that was carried over has held before: the other is the weaker.
    weaker = second.path if first.status in CARRIED else None
    return weaken(fork, settings, f"invalid pair, {reply.value.score:g} of 5: {reply.value.reasons}", weaker)


def said(branch: Branch) -> str:
    """Write a branch's answer, or why there is none."""
    if branch.answer is not None:
        return branch.answer
    return f"{UNKNOWN} ({branch.note})" if branch.note else UNKNOWN
