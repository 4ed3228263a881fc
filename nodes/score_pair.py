"""score_pair: score a pair of sub-questions before anything is searched for it (ToR-RAG's decomposition judge)."""

from typing import Any

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import TorSettings
from ramify.nodes.step import Context, branch_step, with_warning
from ramify.nodes.tree import Branch
from ramify.prompts import RUBRIC
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
