"""decide: answer, or propose to decompose or to look up entities, in one call a branch (PruneRAG, joint)."""

from typing import Any

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import PruneSettings
from ramify.nodes.step import UNSPLIT, Context, branch_step, with_warning
from ramify.nodes.step.text import written_answer
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Passage, Proposal, Status, is_unknown
from ramify.nodes.tree.answers import repeats_answer
from ramify.nodes.tree.notes import missing_note
from ramify.prompts.decide import WAYS, Decision, decide_prompt
from ramify.prompts.lenient_types import THOUGHT
from ramify.tools.errors import ReplyError
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line

NEXT_STEPS = {"answer": "prune", "decompose": "decompose", "entities": "extract_entities", "unknown": "prune"}
"""The step that a choice leads to; without an edge to it the model is not offered that choice (an ablation)."""


@branch_step(deduplicate=True)
async def decide(branch: Branch, context: Context[PruneSettings]) -> list[Branch]:
    """Answer, or propose how to split; an answer with an objection is checked against further passages."""
    choices = tuple(way for way in WAYS if NEXT_STEPS[way] in context.targets) or WAYS
    slots: dict[str, Any] = {
        "question": branch.question,
        "above": context.part_of(branch),
        "dependent": context.settings.dependent,
        "hint": _hint(branch) if branch.objection else "",
        "may": "".join(f"Do not choose {way}. " for way in WAYS if way not in choices),
    }
    earlier = branch if branch.objection else None
    branch = branch.with_status("open", reconsidered=bool(branch.objection), proposal=None)
    passages = context.passages(branch) if earlier is None else _passages_to_check(branch, context)
    try:
        reply = await ask(decide_prompt(choices, concludes=branch.path == ROOT and "answer" in choices), passages, **slots)
    except ReplyError as error:
        if branch.parent is not None and not context.is_awaited(branch) and branch.answer is None:
            raise
        return [with_warning(error, branch.with_status("open" if branch.answer is None else "answered", reconsidered=True), UNSPLIT)]
    decision = Decision.model_validate(reply.value.model_dump())  # a reply by fewer ways lacks fields: these are empty
    settled: Status = "open" if branch.answer is None else "answered"
    answer = "" if decision.action == "unknown" else decision.answer.strip()
    missing = missing_note(str(getattr(reply.value, THOUGHT, ""))) if decision.action == "unknown" else ""
    if proposal := _proposal(decision):
        return [branch.with_status(settled, proposal=proposal, cited=branch.cited or reply.cited_ids(), note=branch.with_note(missing))]
    if decision.action == "unknown" and branch.answer is None:
        return [branch.with_status("open", note=branch.with_note(missing), reconsidered=True)]
    if decision.action in {"decompose", "entities"} and not answer:
        note = branch.with_note(f"chose {decision.action} but named nothing that can be asked")
        return [branch.with_status(settled, note=note, reconsidered=True)]
    answered = branch.with_status(
        "answered",
        answer=answer if decision.action != "unknown" else UNKNOWN,
        note=branch.with_note(missing),
        confidence=reply.confidence,
        confidence_source=reply.confidence_source,
        **written_answer(reply, decision.action != "unknown"),
        objection="",
    )
    return [answered if earlier is None else _keep_confidence(answered, earlier)]


def _proposal(decision: Decision) -> Proposal | None:
    """Return the sub-questions or names of a decision that has no answer, whichever way it names; None if there are none."""
    if decision.action == "answer" and not is_unknown(decision.answer):
        return None
    by_questions = Proposal(questions=tuple(decision.questions), together=decision.together) if decision.questions else None
    by_entities = Proposal(entities=tuple(decision.entities)) if decision.entities else None
    return by_entities or by_questions if decision.action == "entities" else by_questions or by_entities


def _passages_to_check(branch: Branch, context: Context[PruneSettings]) -> tuple[Passage, ...]:
    """Return the passages to check an answer against: those that it cites and those found since; all again where no more were found."""
    since = branch.evidence[context.settings.passages_for(branch.path) :]
    return context.passages(branch.model_copy(update={"evidence": (*branch.cited, *since)}) if since else branch)


def _keep_confidence(answered: Branch, earlier: Branch) -> Branch:
    """Return a reconsidered answer; if it is the earlier one, with the first confidence.

    The hint contains the earlier answer, so that repeating it is likely whether it is right or not. Another answer is not in the hint.
    """
    if not repeats_answer(answered.answer or "", earlier.answer or ""):
        return answered
    first = earlier.model_dump(include={"confidence", "confidence_source"})
    return answered.with_status("answered", **first, cited=answered.cited or earlier.cited)


def _hint(branch: Branch) -> str:
    """Return the hint that names the earlier answer, which is to be checked."""
    if branch.known:
        return f"Your earlier answer: {truncate_line(branch.answer or '', MAX_ANSWER_CHARS)!r} (unsure). Check it against these passages."
    return "You found no answer in other passages. Look in these."
