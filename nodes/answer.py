"""answer: answer each branch from its own passages, say what they tell of a name, or answer from memory (closed book)."""

from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.settings import Settings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.step.selection import Found, reading
from ramify.nodes.tree import Branch, Status
from ramify.prompts import ANSWER, CLOSED_BOOK, SUMMARIZE, Answered, Summary


@each(reading("found"), gives=("answered", "leaf"), once=True)
async def answer(found: Found, settings: Settings) -> Growth:
    """Answer a question from its passages; summarise what they say of an entity."""
    if found.branch.kind == "entity":
        return await summarize(found)
    return await answer_question(found)


@each(reading("open"), gives=("leaf",), name="answer")
async def answer_from_memory(found: Found, settings: Settings) -> Growth:
    """Answer the question without retrieval, from what the model knows (Non-RAG)."""
    reply = await ask(CLOSED_BOOK, question=found.branch.question)
    return grow(with_answer(found.branch, reply, "leaf"))


@each(reading("found"), gives=("leaf",), name="answer")
async def answer_finally(found: Found, settings: Settings) -> Growth:
    """Answer the question from its passages, for good."""
    return await answer_question(found, "leaf")


async def answer_question(found: Found, status: Status = "answered") -> Growth:
    """Ask for an answer from the branch's passages."""
    reply = await ask(ANSWER, found.passages, question=found.branch.question)
    return grow(with_answer(found.branch, reply, status))


async def summarize(found: Found) -> Growth:
    """Ask what the passages say of the entity, with its parent's question in mind."""
    question = found.parent.question if found.parent else found.branch.question
    reply = await ask(SUMMARIZE, found.passages, entity=found.branch.question, question=question)
    return grow(with_answer(found.branch, reply, "leaf"))


def with_answer(branch: Branch, reply: Reply[Answered] | Reply[Summary], status: Status) -> Branch:
    """Hang an answer on a branch, with its confidence and the passages it cites."""
    return branch.to(
        status,
        answer=reply.value.answer.strip(),
        confidence=reply.confidence,
        confidence_source=reply.confidence_source,
        cited=reply.cited(),
    )
