"""decide: answer, or propose to decompose or to look up entities, in one call a branch (PruneRAG, joint)."""

from typing import Any

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import PruneSettings
from ramify.nodes.step import UNSPLIT, Context, branch_step, with_warning
from ramify.nodes.tree import UNKNOWN, Branch, Proposal
from ramify.nodes.tree.notes import missing_note
from ramify.prompts.decide import WAYS, Decision, decide_prompt
from ramify.prompts.lenient_types import THOUGHT
from ramify.tools.errors import ReplyError
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line

NEXT_STEPS = {"answer": "prune", "decompose": "decompose", "entities": "extract_entities", "unknown": "prune"}
"""The step that a choice leads to; without an edge to it the model is not offered that choice (an ablation)."""


@branch_step(once=True)
async def decide(branch: Branch, context: Context[PruneSettings]) -> list[Branch]:
    """Answer, or propose how to split; an answer with an objection is reconsidered, with a hint."""
    ways = tuple(way for way in WAYS if NEXT_STEPS[way] in context.targets) or WAYS
    slots: dict[str, Any] = {
        "question": branch.question,
        "above": context.part_of(branch),
        "dependent": context.settings.dependent,
        "hint": _hint(branch) if branch.objection else "",
        "may": "".join(f"Do not choose {way}. " for way in WAYS if way not in ways),
    }
    branch = branch.with_status("open", reconsidered=bool(branch.objection), proposal=None)
    try:
        reply = await ask(decide_prompt(ways), context.passages(branch), **slots)
    except ReplyError as error:
        if branch.parent is not None and not context.is_awaited(branch) and branch.answer is None:
            raise
        return [with_warning(error, branch.with_status("open" if branch.answer is None else "answered", reconsidered=True), UNSPLIT)]
    decision = Decision.model_validate(reply.value.model_dump())  # a reply by fewer ways lacks fields: these are empty
    if decision.action == "decompose":
        proposal = Proposal(questions=tuple(decision.questions), together=decision.together)
    elif decision.action == "entities":
        proposal = Proposal(entities=tuple(decision.entities))
    else:
        proposal = Proposal()
    if proposal.questions or proposal.entities:
        return [branch.with_status("open" if branch.answer is None else "answered", proposal=proposal)]
    told = missing_note(str(getattr(reply.value, THOUGHT, ""))) if decision.action == "unknown" else ""
    if decision.action == "unknown" and branch.answer is None:
        return [branch.with_status("open", note=branch.with_note(told), reconsidered=True)]
    if decision.action in {"decompose", "entities"} and not decision.answer:
        note = branch.with_note(f"chose {decision.action} but named nothing that can be asked")
        return [branch.with_status("open" if branch.answer is None else "answered", note=note, reconsidered=True)]
    return [
        branch.with_status(
            "answered",
            answer=UNKNOWN if decision.action == "unknown" else decision.answer.strip(),
            note=branch.with_note(told),
            confidence=reply.confidence,
            confidence_source=reply.confidence_source,
            cited=reply.cited_ids(),
            objection="",
        )
    ]


def _hint(branch: Branch) -> str:
    """Return the hint that the earlier answer was not sure enough, or missing."""
    said = (
        f"You answered {truncate_line(branch.answer, MAX_ANSWER_CHARS)!r} before and were not sure"
        if branch.known
        else "You found no answer before"
    )
    return f"{said}. Reconsider: look at the passages again, or choose another way."
