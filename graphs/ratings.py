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
    found: list[AnsweredTurn] = []
    for message in messages:
        if isinstance(message, HumanMessage):
            found.append(AnsweredTurn(message.text, None))
        elif isinstance(message, AIMessage) and found and isinstance(told := message.additional_kwargs.get(MARK), dict):
            found[-1] = AnsweredTurn(found[-1].asked, told)
    return found


async def rate(where: str, thread: str, asked: str, answer: str, rating: Rating | None) -> bool:
    """Store the rating of an answer, None to remove it; return whether there is such an answer."""
    kept = Conversation(where, thread)
    await kept.recall_async()
    if not any(turn.answer_data and (turn.asked, turn.answer_data.get("answer")) == (asked, answer) for turn in find_turns(kept.messages)):
        return False
    async with open_memory(where) as memory:
        held = await memory.store.aget(RATINGS, thread)
        others = [one for one in (held.value["ratings"] if held else []) if (one["asked"], one["answer"]) != (asked, answer)]
        given = [{"asked": asked, "answer": answer, "rating": rating}] if rating else []
        await memory.store.aput(RATINGS, thread, {"ratings": [*others, *given]})
    return True


async def load_ratings(where: str, thread: str) -> dict[tuple[str, str], Rating]:
    """Return the ratings of a conversation by question as asked and answer."""
    async with open_memory(where) as memory:
        held = await memory.store.aget(RATINGS, thread)
    return {(one["asked"], one["answer"]): one["rating"] for one in (held.value["ratings"] if held else [])}


def rated_answers(where: str) -> list[Rated]:
    """Return all rated answers of a memory, the oldest conversation first. Blocking."""
    return blocking(_load_rated_answers(where))


async def _load_rated_answers(where: str) -> list[Rated]:
    found = []
    for thread in reversed(await load_threads(where)):
        ratings = await load_ratings(where, thread.name)
        if not ratings:
            continue
        kept = Conversation(where, thread.name)
        await kept.recall_async()
        for asked, told in find_turns(kept.messages):
            if told and (rating := ratings.get((asked, str(told.get("answer"))))):
                cited = [str(one["source"]) for one in told.get("citations") or () if one.get("cited")]
                question = str(told.get("question") or asked)
                found.append(Rated(thread.name, question, str(told["answer"]), rating, tuple(dict.fromkeys(cited))))
    return found
