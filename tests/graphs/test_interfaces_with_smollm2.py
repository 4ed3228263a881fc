"""A model file of one's own behind each door: the tool of an agent, and the chat of a notebook."""

import ramify.graphs as graphs
from ramify.studio import Chat
from tests.river import QUESTION, river
from tests.smollm2 import NAME, REAL, SHORT
from tests.studio.notebook.test_chat import answered, html

pytestmark = REAL


def test_an_agent_s_tool_answers_with_it() -> None:
    tool = graphs.research_tool("chain", model=NAME, index=river(), max_depth=1, **SHORT)
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}})
    told = message.artifact
    assert (told["model"], told["stopped_by"], told["confidence_source"]) == (NAME, "finished", "logprobs")
    assert told["answer"].split("\n")[0] in message.content
    assert {form for replies in told["usage"]["replies"].values() for form, number in replies.items() if number} == {"valid"}


async def test_a_notebook_s_chat_answers_with_it() -> None:
    chat = Chat(strategy="naive", model=NAME, index=river(), **SHORT)
    told = html(await answered(chat, QUESTION))
    [result] = chat.results
    assert (result.model, result.usage.llm_calls, result.confidence_source) == (NAME, 1, "logprobs")
    assert f"naive · {NAME}" in told
    assert result.answer in told
