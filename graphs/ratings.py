"""Users' ratings of answers, stored with the conversations."""

from typing import Any, Literal, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ramify.graphs.conversation import RATINGS, Conversation, load_threads
from ramify.graphs.memory import open_memory
from ramify.graphs.run import blocking
from ramify.nodes.state import MARK

Rating = Literal["up", "down"]
CONVERSATIONS = "conversations.sqlite"
"""The file of conversations in the folder of a server."""


class AnsweredTurn(NamedTuple):
    """A turn of a conversation: the question as asked, and the data of its answer, None without one."""

    asked: str
    answer_data: dict[str, Any] | None


class Rated(NamedTuple):
    """A rated answer: the question as rewritten, the answer, its rating, and the sources it cites."""

    thread: str
    question: str
    answer: str
    rating: Rating
    sources: tuple[str, ...]


def find_turns(messages: list[AnyMessage]) -> list[AnsweredTurn]:
    """Return the turns of a conversation."""
    turns: list[AnsweredTurn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            turns.append(AnsweredTurn(message.text, None))
        elif isinstance(message, AIMessage) and turns and isinstance(answer_data := message.additional_kwargs.get(MARK), dict):
            turns[-1] = AnsweredTurn(turns[-1].asked, answer_data)
    return turns


async def rate(where: str, thread: str, asked: str, answer: str, rating: Rating | None) -> bool:
    """Store the rating of an answer, None to remove it; return whether there is such an answer."""
    kept = Conversation(where, thread)
    await kept.recall_async()
    if not any(turn.answer_data and (turn.asked, turn.answer_data.get("answer")) == (asked, answer) for turn in find_turns(kept.messages)):
        return False
    async with open_memory(where) as memory:
        stored = await memory.store.aget(RATINGS, thread)
        others = [rated for rated in (stored.value["ratings"] if stored else []) if (rated["asked"], rated["answer"]) != (asked, answer)]
        new = [{"asked": asked, "answer": answer, "rating": rating}] if rating else []
        await memory.store.aput(RATINGS, thread, {"ratings": [*others, *new]})
    return True


async def load_ratings(where: str, thread: str) -> dict[tuple[str, str], Rating]:
    """Return the ratings of a conversation by question as asked and answer."""
    async with open_memory(where) as memory:
        stored = await memory.store.aget(RATINGS, thread)
    return {(rated["asked"], rated["answer"]): rated["rating"] for rated in (stored.value["ratings"] if stored else [])}


def rated_answers(where: str) -> list[Rated]:
    """Return all rated answers of a memory, the oldest conversation first. Blocking."""
    return blocking(_load_rated_answers(where))


async def _load_rated_answers(where: str) -> list[Rated]:
    rated = []
    for thread in reversed(await load_threads(where)):
        ratings = await load_ratings(where, thread.name)
        if not ratings:
            continue
        conversation = Conversation(where, thread.name)
        await conversation.recall_async()
        for asked, data in find_turns(conversation.messages):
            if data and (rating := ratings.get((asked, str(data.get("answer"))))):
                cited = [str(citation["source"]) for citation in data.get("citations") or () if citation.get("cited")]
                question = str(data.get("question") or asked)
                rated.append(Rated(thread.name, question, str(data["answer"]), rating, tuple(dict.fromkeys(cited))))
    return rated
