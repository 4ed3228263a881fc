"""answer: answer a branch from its own passages, say what they tell of a name, or answer from memory; aggregate: from its children."""

import asyncio
from math import prod
from typing import Any

from ramify.nodes.asking.ask import Reply, ask, chosen_splitter, current_model, embedded_writer
from ramify.nodes.settings import Settings, TreeSettings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.step.findings import to_finding
from ramify.nodes.step.text import text_streamer, written_answer
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Status, ancestors, children, is_unknown
from ramify.nodes.tree.answers import answers_parent, repeated_hop
from ramify.nodes.tree.notes import UNSETTLED, missing_note, repeats_note
from ramify.prompts import AGGREGATE, ANSWER, CLOSED_BOOK, SUMMARIZE, Answered, EntitySummary
from ramify.prompts.answer import CONCLUDING_ANSWER, AnsweredFromPassages


@branch_step(deduplicate=True)
async def answer(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Answer a question from its passages; summarise what they say of an entity; from memory where the graph has no search."""
    passages = context.passages(branch)
    if branch.kind == "entity":
        parent = context.tree.get(branch.parent or "")
        about = parent.question if parent else branch.question
        return [with_answer(branch, await ask(SUMMARIZE, passages, entity=branch.question, question=about), "leaf")]
    if "retrieve" not in context.steps:
        return [with_answer(branch, await ask(CLOSED_BOOK, question=branch.question), "answered")]
    slots: dict[str, Any] = {"question": branch.question, "above": context.part_of(branch)}
    if branch.path == ROOT and context.targets == {"finalize"}:  # nothing else can change the answer
        model = await asyncio.to_thread(current_model, context.settings)
        on_text = text_streamer(context.state) if model.writes_text(context.settings.style) else None
        reply = await ask(CONCLUDING_ANSWER, passages, on_text=on_text, **slots)
    else:
        reply = await ask(ANSWER, passages, **slots)
    answered = with_answer(branch, reply, "answered")
    hop = repeated_hop(context.tree, branch, answered.answer or "")
    if hop is None or not await asyncio.to_thread(_may_only_repeat, context.settings):
        return [answered]
    note = answered.with_note(repeats_note(answered.answer or "", hop.path))
    return [answered.with_status("answered", answer=UNKNOWN, confidence=0.0, note=note, cited=())]


def _may_only_repeat(settings: Settings) -> bool:
    """Return whether an answer that repeats a name of the question is likely wrong; a larger model may choose between two names."""
    model = current_model(settings)
    return model.is_small or not model.writes


def with_answer(branch: Branch, reply: Reply[Answered] | Reply[AnsweredFromPassages] | Reply[EntitySummary], status: Status) -> Branch:
    """Return the branch with an answer, its confidence and the passages it cites; beside Unknown with what is missing."""
    answer = reply.value.answer.strip()
    note = missing_note(reply.value.missing) if is_unknown(answer) and isinstance(reply.value, AnsweredFromPassages) else ""
    return branch.with_status(
        status,
        answer=answer,
        note=branch.with_note(note),
        confidence=reply.confidence,
        confidence_source=reply.confidence_source,
        **written_answer(reply, not is_unknown(answer)),
    )


@branch_step()
async def aggregate(branch: Branch, context: Context[TreeSettings]) -> list[Branch]:
    """Answer a branch from the answers of its children; without a call if one of them answers its question, or arithmetic settles it.

    Its confidence is the product of its hops' confidences. Where a search can follow, a question that is not settled is searched itself.
    """
    below = [child for child in children(context.tree, branch.path) if child.status != "pruned"]
    last = next((child for child in reversed(below) if child.known and answers_parent(child, branch)), None)
    if last is not None:
        hops = [last, *(child for child in below if child.path == last.awaits and child.known)]
        taken = last.model_dump(include={"answer", "confidence_source", "objection"})
        confidence = prod(hop.confidence or 0.0 for hop in hops)
        cited = tuple(dict.fromkeys(key for hop in hops for key in hop.cited))
        evidence = tuple(dict.fromkeys((*last.evidence, *branch.evidence)))
        return [branch.with_status("inner", **taken, confidence=confidence, cited=cited, evidence=evidence, aggregated=True)]
    searches = "retrieve" in context.targets
    if not searches and below and all(child.answer is not None and not child.known for child in below):  # nothing to combine
        unknown = {} if branch.known else {"answer": UNKNOWN, "confidence": branch.confidence or 0.0}
        return [branch.with_status("inner", **unknown, aggregated=True)]
    cited = tuple(key for child in below for key in child.cited)
    passages = context.passages(*(child.model_copy(update={"evidence": (*child.cited, *child.evidence)}) for child in below), branch)
    above = (*ancestors(context.tree, branch.path), branch)
    findings = [to_finding(child, {passage.id: passage for passage in passages}, above) for child in below]
    if branch.together and await asyncio.to_thread(chosen_splitter, context.settings) != "model":
        combined = await asyncio.to_thread(embedded_writer().combine, branch.question, findings)
        if combined is not None:
            settled = {"answer": combined.answer, "confidence": combined.confidence, "confidence_source": below[-1].confidence_source}
            return [branch.with_status("inner", **settled, cited=tuple(dict.fromkeys(cited)), aggregated=True)]
    if searches:
        return [branch.with_status("open", note=branch.with_note(UNSETTLED))]
    cited_first = tuple(sorted(passages, key=lambda passage: passage.id not in cited))
    reply = await ask(AGGREGATE, cited_first, question=branch.question, above=context.part_of(branch), findings=findings)
    answered = with_answer(branch, reply, "inner")
    # For whoever waits for it, an unsure answer of its own is better than none.
    kept = branch if context.is_awaited(branch) and branch.known and not answered.known else answered
    return [kept.with_status("inner", aggregated=True)]
