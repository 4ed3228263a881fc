"""A strategy as a subagent of an agent that delegates tasks, such as one of deepagents."""

from typing import Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from pydantic import BaseModel, Field

from ramify.graphs.run import Watch
from ramify.graphs.strategies import DEFAULT
from ramify.graphs.tool import research_tool
from ramify.nodes.tree.citation import Citation
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line

QUESTION_ALONE = " The task is one complete question, and nothing else: no instructions, no format."


class SubagentInput(TypedDict):
    """What a subagent reads of its caller's state: the messages, of which the last one of a human asks."""

    messages: list[AnyMessage]


class SubagentAnswer(BaseModel):
    """What a subagent found; written as JSON it is what the calling agent reads."""

    answer: str = Field(description="The short answer; Unknown where there is none.")
    confidence: float | None = Field(description="How likely the answer is right, from 0 to 1; null beside Unknown.")
    citations: list[str] = Field(description="Where each source stands, in the order of their numbers in the text.")
    text: str = Field(description="The answer with its confidence, numbered quotations and notes.")


class Subagent(TypedDict):
    """A `CompiledSubAgent` of deepagents: its name, when to use it, and what to run."""

    name: str
    description: str
    runnable: Runnable[SubagentInput, dict[str, Any]]


def research_subagent(
    strategy: str = DEFAULT, *, name: str = "researcher", about: str | None = None, watch: Watch | None = None, **options: Any
) -> Subagent:
    """Return a strategy as a subagent for `create_deep_agent(subagents=[…])`; the arguments are those of `research_tool`.

    It runs by `invoke` and by `ainvoke`. `structured_response` is a `SubagentAnswer`, and the last message its text; an error that the
    calling model can react to is that message alone, beginning with `error:`.
    """
    tool = research_tool(strategy, name=name, about=about, watch=watch, **options)

    def research(state: SubagentInput, config: RunnableConfig) -> dict[str, Any]:
        return _update(tool.invoke(_call(name, state), config))

    async def research_async(state: SubagentInput, config: RunnableConfig) -> dict[str, Any]:
        return _update(await tool.ainvoke(_call(name, state), config))

    return Subagent(name=name, description=tool.description + QUESTION_ALONE, runnable=RunnableLambda(research, research_async, name=name))


def _call(name: str, state: SubagentInput) -> dict[str, Any]:
    asked = next((message for message in reversed(state["messages"]) if isinstance(message, HumanMessage)), None)
    if asked is None:
        raise UsageError("there is no message of a human among the subagent's messages", "give the question as a HumanMessage")
    return {"type": "tool_call", "id": asked.id or name, "name": name, "args": {"question": asked.text}}


def _update(said: ToolMessage) -> dict[str, Any]:
    text = said.text
    update: dict[str, Any] = {"messages": [AIMessage(text)]}
    if said.status == "error":
        return update
    found = said.artifact
    where = [one_line(Citation.model_validate(citation).where) for citation in found["citations"]]
    return {
        **update,
        "structured_response": SubagentAnswer(answer=found["answer"], confidence=found["confidence"], citations=where, text=text),
    }
