"""score_pair: score a pair of sub-questions before anything is searched for it; judge: score a fork by the answers to them (ToR-RAG)."""

import asyncio
from typing import Any

from ramify.nodes.asking.ask import ask, is_small
from ramify.nodes.settings import AUTO, JudgedSettings, TorSettings
from ramify.nodes.step import Context, branch_step, with_warning
from ramify.nodes.step.likelihood import fork_likelihood
from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import WEAKER
from ramify.prompts import JUDGE, RUBRIC
from ramify.prompts.lenient_types import MAX_SCORE
from ramify.prompts.prompt import NO_ANSWER
from ramify.tools.errors import ReplyError

UNSCORED = "the pair is searched unscored"


@branch_step()
async def score_pair(branch: Branch, context: Context[TorSettings]) -> list[Branch]:
    """Score a new pair from 0 to 5; an invalid one gets an objection, and its new half is the weaker if the other was carried over."""
    pair = first, second = context.pair(branch)
    slots: dict[str, Any] = {
        "question": branch.question,
        "first": first.question,
        "second": second.question,
        "dependent": context.settings.dependent,
    }
    try:
        reply = await ask(RUBRIC, field="verdict", **slots)
    except ReplyError as error:
        return [with_warning(error, branch, UNSCORED), *pair]
    if reply.value.verdict == "VALID":
        return [branch.with_status("split", note=branch.with_note(f"pair scored {reply.value.score:g} of 5")), *pair]
    why = f"invalid pair, {reply.value.score:g} of 5: {reply.value.reasons}"
    carried = first.status in {"answered", "failed"}
    return [branch.with_status("split", objection=why, weaker=second.path if carried else None)]


@branch_step()
async def judge(branch: Branch, context: Context[JudgedSettings]) -> list[Branch]:
    """Score a fork by sufficiency, non-redundancy, consistency and decomposition, or by how likely its answers are right.

    Record the weaker half, if there is one: of two halves of which one has no answer, that one is the weaker.
    """
    first, second = context.pair(branch)
    weaker: Branch | None = None
    if await asyncio.to_thread(_goes_by_confidence, context.settings):
        score = await asyncio.to_thread(fork_likelihood, context, branch, (first, second))
        scores = {"score": score, "sufficiency": (first.known + second.known) / 2}
    else:
        slots: dict[str, Any] = {
            "question": branch.question,
            "first": first.question,
            "second": second.question,
            "first_answer": _answer_text(first),
            "second_answer": _answer_text(second),
            "dependent": context.settings.dependent,
        }
        reply = await ask(JUDGE, field="sufficiency", **slots)
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


def _goes_by_confidence(settings: JudgedSettings) -> bool:
    return settings.judge == "confidence" or (settings.judge == AUTO and is_small(settings))


def _answer_text(branch: Branch) -> str:
    """Return a branch's answer, or that there is none."""
    return branch.answer if branch.answer is not None and branch.known else NO_ANSWER
