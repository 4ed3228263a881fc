"""answer: answer a branch from its own passages, say what they tell of a name, or answer from memory (closed book)."""

from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.settings import Settings
from ramify.nodes.step import Context, branch_step
from ramify.nodes.tree import Branch, Status, is_unknown
from ramify.nodes.tree.notes import missing
from ramify.prompts import ANSWER, CLOSED_BOOK, SUMMARIZE, Answered, Summary
from ramify.prompts.answer import AnsweredFromPassages


@branch_step(once=True)
async def answer(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Answer a question from its passages; summarise what they say of an entity; from memory where the graph has no search."""
    passages = context.passages(branch)
    if branch.kind == "entity":
        parent = context.tree.get(branch.parent or "")
        about = parent.question if parent else branch.question
        return [with_answer(branch, await ask(SUMMARIZE, passages, entity=branch.question, question=about), "leaf")]
    if "retrieve" not in context.steps:
        return [with_answer(branch, await ask(CLOSED_BOOK, question=branch.question), "answered")]
    reply = await ask(ANSWER, passages, question=branch.question, above=context.part_of(branch))
    return [with_answer(branch, reply, "answered")]


def with_answer(branch: Branch, reply: Reply[Answered] | Reply[AnsweredFromPassages] | Reply[Summary], status: Status) -> Branch:
    """Return the branch with an answer, its confidence and the passages it cites; beside Unknown with what is missing."""
    answer = reply.value.answer.strip()
    told = missing(reply.value.missing) if is_unknown(answer) and isinstance(reply.value, AnsweredFromPassages) else ""
    return branch.to(
        status,
        answer=answer,
        note=branch.noted(told),
        confidence=reply.confidence,
        confidence_source=reply.confidence_source,
        cited=reply.cited(),
    )
