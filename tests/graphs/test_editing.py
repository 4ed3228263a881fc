"""The tree of the last question of a stored conversation is edited, and run on from there."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import PrivateAttr

import ramify.graphs as graphs
from ramify.graphs.editing import DROPPED_BY_USER, Edit
from ramify.tools.errors import UsageError
from tests.fakes import FakeModel
from tests.river import FINAL, FINAL_TOR, FIRST, QUESTION, model, replies, river

ROME = "What is the capital of Italy?"
OTHER = "Which river runs through Rome?"
WAYS = [("prune", FINAL), ("tor", FINAL_TOR)]


class Hanging(FakeModel):
    """Never answer the second half."""

    _reached: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    @property
    def reached(self) -> asyncio.Event:
        return self._reached

    async def _agenerate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        result = self._generate(messages)
        _, slots = self.calls[-1]
        if str(slots["question"]).startswith("Which river runs through Paris"):
            self._reached.set()
            await asyncio.Event().wait()
        return result


@pytest.fixture
def talk(tmp_path: Path) -> graphs.Conversation:
    return graphs.Conversation(f"sqlite:{tmp_path / 'memory.db'}", "rivers")


def asked(chat: FakeModel) -> list[str]:
    """List the sub-questions that were answered, in order."""
    return [call["question"] for name in ("answer", "decide") for call in chat.asked(name) if call["question"] != QUESTION]


@pytest.mark.parametrize(("strategy", "settings"), WAYS)
async def test_an_edited_branch_is_asked_instead_and_the_new_answer_takes_the_old_one_s_place(
    talk: graphs.Conversation, strategy: str, settings: dict[str, Any]
) -> None:
    options: dict[str, Any] = {**settings, "index": river()}
    await talk.ask_async(QUESTION, strategy, model=model(), **options)
    chat = model()
    result = await talk.edit_async(Edit("0.0", ROME), model=chat, **options)
    assert result.tree["0.0"].question == ROME
    assert result.tree["0.0"].answer == "Paris"
    assert result.question == QUESTION
    assert ROME in asked(chat)
    assert FIRST not in asked(chat)
    assert (talk.turns, len(talk.messages)) == (1, 2)


@pytest.mark.parametrize(("strategy", "settings"), WAYS)
async def test_a_second_edit_keeps_the_first(talk: graphs.Conversation, strategy: str, settings: dict[str, Any]) -> None:
    options: dict[str, Any] = {**settings, "index": river(), "model": model()}
    await talk.ask_async(QUESTION, strategy, **options)
    await talk.edit_async(Edit("0.0", ROME), **options)
    chat = model()
    result = await talk.edit_async(Edit("0.1", OTHER), **{**options, "model": chat})
    assert [result.tree[path].question for path in ("0.0", "0.1")] == [ROME, OTHER]
    assert OTHER in asked(chat)
    again = await talk.edit_async(Edit("0.0", FIRST), **options)
    assert again.tree["0.0"].question == FIRST


@pytest.mark.parametrize(("strategy", "settings"), WAYS)
@pytest.mark.parametrize("path", ["0.0", "0.1"])
async def test_a_dropped_branch_is_not_asked_and_counts_no_more(
    talk: graphs.Conversation, strategy: str, settings: dict[str, Any], path: str
) -> None:
    options: dict[str, Any] = {**settings, "index": river()}
    first = await talk.ask_async(QUESTION, strategy, model=model(), **options)
    chat = model()
    result = await talk.edit_async(Edit(path), model=chat, **options)
    assert (result.tree[path].status, result.tree[path].answer) == ("pruned", None)
    assert DROPPED_BY_USER in result.tree[path].note
    assert first.tree[path].question not in asked(chat)
    assert talk.turns == 1


async def test_only_the_last_question_is_edited(talk: graphs.Conversation) -> None:
    options: dict[str, Any] = {**FINAL, "index": river(), "model": model()}
    await talk.ask_async(QUESTION, "prune", **options)
    await talk.ask_async(FIRST, "naive", index=river(), model=model())
    with pytest.raises(UsageError, match=r"has no branch '0\.0'"):
        await talk.edit_async(Edit("0.0", ROME), index=river(), model=model())
    await talk.ask_async(QUESTION, "prune", **options)
    await talk.edit_async(Edit("0.0", ROME), **options)
    assert (talk.turns, len(talk.messages)) == (3, 6)


async def test_a_question_that_was_stopped_is_run_on_from_an_edit(talk: graphs.Conversation) -> None:
    hanging = Hanging(replies=replies, logprobs=True)
    options: dict[str, Any] = {**FINAL, "index": river()}
    running = asyncio.create_task(talk.ask_async(QUESTION, "prune", model=hanging, **options))
    await hanging.reached.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    result = await talk.edit_async(Edit("0.0", ROME), model=model(), **options)
    assert result.tree["0.0"].question == ROME
    assert talk.turns == 1


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (Edit("0", ROME), "the first branch is the question itself"),
        (Edit("0.7", ROME), r"has no branch '0\.7'"),
        (Edit("x", ROME), "has no branch 'x'"),
        (Edit("0.0", " "), "the question is empty"),
    ],
)
async def test_what_cannot_be_edited_is_refused_and_nothing_changes(talk: graphs.Conversation, edit: Edit, told: str) -> None:
    options: dict[str, Any] = {**FINAL, "index": river(), "model": model()}
    before = await talk.ask_async(QUESTION, "prune", **options)
    with pytest.raises(UsageError, match=told):
        await talk.edit_async(edit, **options)
    kept = graphs.Conversation(talk.memory, talk.thread)
    assert await kept.recall_async() is None
    assert kept.messages[-1].text.startswith(before.answer)


async def test_a_conversation_that_is_not_stored_or_not_there_is_refused(talk: graphs.Conversation) -> None:
    with pytest.raises(UsageError, match="not stored"):
        await graphs.Conversation().edit_async(Edit("0.0", ROME))
    with pytest.raises(UsageError, match="there is no conversation 'rivers'"):
        await talk.edit_async(Edit("0.0", ROME))
