"""Middleware that holds an agent's final message to what its tools quoted."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ExtendedModelResponse, ModelRequest, ModelResponse
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolCall
from langchain_core.tools import BaseTool
from langgraph.constants import TAG_NOSTREAM
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import TypedDict

from ramify.agents.grounds import GroundedText, ground, read_replies
from ramify.graphs.tool import research_tool
from ramify.tools.errors import UsageError
from ramify.tools.quoting import one_line
from ramify.tools.reader import READER

USE_TOOLS = "Use {tools} before you answer."
RULES = (
    "Answer from the quotations alone, in whole sentences. Behind each sentence write the number of the quotation that says it, like this: "
    "[1]. If the quotations do not answer the question, say that the documents do not say it."
)
EMPTY = "Your answer is empty. Write what the quotations say, or that the documents do not say it."
ASK_AGAIN = (
    "No quotation says these sentences:\n{sentences}\n"
    "Write the whole answer again without them, or with the number of the quotation that says each. "
    "If something is missing, look it up first."
)


class Grounds(TypedDict):
    """What is known of the final message."""

    sentences: list[dict[str, Any]]
    """Each with `text`, `citations` (numbers from 1) and `supported`: True, False, or None for what states nothing."""
    citations: list[dict[str, Any]]
    """As in an answer: `source`, `quote`, `text`, `link` …"""
    asked_again: int
    """How often the model was asked once more in this turn."""


class GroundedState(AgentState[Any]):
    """The state of an agent with the grounds of its final message."""

    grounds: NotRequired[Annotated[Grounds | None, OmitFromInput]]
    grounds_asked: NotRequired[Annotated[int, PrivateStateAttr]]


class Grounded(AgentMiddleware[GroundedState, Any, Any]):
    """Gives an agent `research_tool`, and holds its final message to grounds: quotations of the documents.

    Each sentence gets the numbers of the quotations that say it, those that the model has named or others; one that none says is marked,
    after the model was asked once more (`ask_again` times in a turn). The message ends with the list of its sources; `grounds` in the state
    has them for a program. Questions, headings, code and statements that there is no answer need no ground. Structured responses are not
    changed. With `search_first`, the first tool is called with the user's message at the beginning of each turn, and the model is offered
    none of these tools: for small models, which call them badly or not at all.

    The options are those of `research_tool`. Instead of them, tools can be given: of ramify (`research_tool`, `search_tool`, `grep_tool`),
    or others, whose whole text is then a ground; `also` names such tools that the agent has anyway. `check` names who judges whether a
    quotation says a sentence: the reader, a cross-encoder, or none: then each that is named counts.
    """

    state_schema = GroundedState

    def __init__(
        self,
        *tools: BaseTool,
        also: Sequence[str] = (),
        ask_again: int = 1,
        search_first: bool = False,
        check: str = READER,
        **options: Any,
    ) -> None:
        """Raise UsageError or IndexingError for wrong options, at once."""
        super().__init__()
        if tools and options:
            raise UsageError(f"{next(iter(options))!r} is an option of a tool, and the tools are given", "give it to the tool")
        if isinstance(also, str):
            raise UsageError(f"also={also!r} is a text, not a list of names", f"write also=[{also!r}]")
        if ask_again < 0:
            raise UsageError(f"a model cannot be asked again {ask_again} times", "give ask_again=0 or more")
        self.tools = tools or (research_tool(**options),)
        if search_first and "question" not in self.tools[0].args:
            raise UsageError(f"search_first: the tool {self.tools[0].name!r} takes no question", "give a research_tool first")
        self.ask_again, self.search_first, self.check = ask_again, search_first, check
        self._names = [*(tool.name for tool in self.tools), *also]

    def before_agent(self, state: GroundedState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Begin a turn: there is no final message yet, and the model can be asked again."""
        return {"grounds": None, "grounds_asked": 0}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ExtendedModelResponse[Any]:
        """Return the response with a message that has its grounds."""
        turn = _Turn(self, request)
        while turn.request is not None:
            turn.take(handler(turn.request))
        return turn.response()

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ExtendedModelResponse[Any]:
        """Return the response with a message that has its grounds."""
        turn = _Turn(self, request)
        while turn.request is not None:
            await asyncio.to_thread(turn.take, await handler(turn.request))
        return turn.response()

    def ground(self, message: AIMessage, request: ModelRequest[Any]) -> GroundedText:
        """Return the text of a message with its grounds among what the tools gave before it; blocking."""
        texts = [part if isinstance(part, str) else str(part.get("text", "")) for part in message.content if _is_text(part)]
        text = message.content if isinstance(message.content, str) else "\n\n".join(texts)
        given = request.state["messages"]  # other middleware may have shortened those of the request
        return ground(text, read_replies(given, self._names), self.check)

    def first_call(self, request: ModelRequest[Any]) -> ModelResponse[Any] | None:
        """Return a call of the first tool, where a turn begins with one and there was none yet."""
        asked = next((message for message in reversed(request.messages) if isinstance(message, HumanMessage)), None)
        if not self.search_first or asked is None or request.messages[-1] is not asked:
            return None
        call = ToolCall(name=self.tools[0].name, args={"question": asked.text}, id=f"first-{asked.id}", type="tool_call")
        return ModelResponse([AIMessage("", tool_calls=[call])])

    def with_rules(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Return a request whose system message says how to name grounds, and which offers the tools that the model may call."""
        use = "" if self.search_first else USE_TOOLS.format(tools=" or ".join(self._names))
        before = request.system_message.content_blocks if request.system_message else []
        rules = f"{use} {RULES}".strip()
        system = SystemMessage(content_blocks=[*before, {"type": "text", "text": rules}]) if before else SystemMessage(rules)
        own = {tool.name for tool in self.tools} if self.search_first else set()
        tools = [tool for tool in request.tools if not (isinstance(tool, BaseTool) and tool.name in own)]
        return request.override(system_message=system, tools=tools, model=_unstreamed(request.model))


class _Turn:
    """A call of the model, repeated while a final message lacks grounds and it may be asked again."""

    def __init__(self, rule: Grounded, request: ModelRequest[Any]) -> None:
        self._rule = rule
        self._first = rule.with_rules(request)
        self._calling = rule.first_call(request)
        self.request: ModelRequest[Any] | None = None if self._calling else self._first
        """What to ask the model; None at the end."""
        self._asked: int = cast(GroundedState, request.state).get("grounds_asked", 0)
        self._best: tuple[ModelResponse[Any], AIMessage, GroundedText] | None = None

    def take(self, response: ModelResponse[Any]) -> None:
        """Take a response, and decide whether the model is asked again; blocking."""
        self.request = None
        message = next((message for message in reversed(response.result) if isinstance(message, AIMessage)), None)
        if message is None or message.tool_calls or response.structured_response is not None:
            self._calling = response
            return
        grounded = self._rule.ground(message, self._first)
        if self._best is None or grounded.better_than(self._best[2]):
            self._best = response, message, grounded
        lacking = "\n".join(f"- {one_line(sentence.text)}" for sentence in grounded.without_ground)
        if (lacking or not grounded.sentences) and self._asked < self._rule.ask_again:
            self._asked += 1
            hint = HumanMessage(ASK_AGAIN.format(sentences=lacking) if lacking else EMPTY)
            self.request = self._first.override(messages=[*self._first.messages, message, hint])

    def response(self) -> ExtendedModelResponse[Any]:
        """Return the last response if it calls tools, else the best one, with the grounds of its message."""
        if self._calling or not self._best:
            return ExtendedModelResponse(self._calling or ModelResponse([]), Command(update={"grounds_asked": self._asked}))
        response, message, grounded = self._best
        others = [] if isinstance(message.content, str) else [part for part in message.content if not _is_text(part)]
        content: Any = [*others, {"type": "text", "text": grounded.text}] if others else grounded.text
        changed = message.model_copy(update={"content": content})
        grounds = Grounds(
            sentences=[sentence.model_dump(mode="json") for sentence in grounded.sentences],
            citations=[citation.model_dump(mode="json") for citation in grounded.citations],
            asked_again=self._asked,
        )
        result = [changed if part is message else part for part in response.result]
        return ExtendedModelResponse(ModelResponse(result), Command(update={"grounds": grounds, "grounds_asked": self._asked}))


def _is_text(part: str | dict[str, Any]) -> bool:
    return isinstance(part, str) or part.get("type") == "text"


def _unstreamed(model: BaseChatModel) -> BaseChatModel:
    """Return a model whose tokens are not in a stream of messages: what is streamed is the message with its grounds.

    A model that is chosen at each call (`init_chat_model` without a name) is returned unchanged.
    """
    if not isinstance(model, BaseChatModel):
        return model
    return model.model_copy(update={"tags": [*(model.tags or []), TAG_NOSTREAM]})
