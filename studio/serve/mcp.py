"""An MCP server with the tools for agents: on stdin and stdout, as a route of `ramify serve`, and as `ramify mcp --http`.

Over HTTP every request stands alone, as in the specification of 2026-07-28. A client of an earlier one is answered, too, without a session.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any, TypeVar

import anyio
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from ramify.graphs.run import Cost, Result, Watch, beginning
from ramify.graphs.strategies import configure
from ramify.graphs.tool import Queue, about_of, for_callers, research_tool, search_tool
from ramify.nodes.state import StoppedBy
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.studio.serve.questions import GONE, Failure, Questions
from ramify.studio.serve.transport import Tokens, guarded
from ramify.studio.server.guard import BODY
from ramify.tools.errors import UsageError
from ramify.tools.models import clear_cache
from ramify.tools.quoting import one_line, truncate_message
from ramify.tools.scrub import scrub
from ramify.tools.user_input import check_text, is_unicode

T = TypeVar("T")
PREFIX = "/mcp"
METHODS = ("POST",)
ASKING = "mcp"
"""In whose name questions are asked: clients stop theirs by closing the connection."""
_watching: ContextVar[Watch] = ContextVar("ramify_mcp_watching")
"""Who watches the run of the call at hand."""
INSTRUCTIONS = (
    "{research} answers a question from {about}, with sources and a confidence; give it a whole question, it splits hard ones itself. "
    "{search} finds passages there to read. 'Unknown' means that nothing was found: then do not guess."
)


class Researched(BaseModel):
    """The result of a question: the object of `ramify ask --json`."""

    question: str
    answer: str = Field(description="Unknown where none was found")
    text: str = Field(description="the answer in sentences, with the numbers of its citations")
    sentences: list[Sentence]
    quoted: bool = Field(description="whether the text is quoted from the passages word for word")
    confidence: float | None = Field(ge=0, le=1, description="how likely the answer is right; none beside Unknown")
    withheld: str = Field(description="which answer was withheld because it is not sure enough, and why; else empty")
    citations: list[Citation] = Field(description="those that are `closest` may not hold the answer")
    tree: list[dict[str, Any]] = Field(description="The branches: path, parent, question, kind, status, answer, confidence, note, …")
    usage: Cost
    stopped_by: StoppedBy
    notices: list[str]
    index: str = Field(description="what was searched; empty where nothing was")


class PassageFound(BaseModel):
    """A passage: an object of `ramify search --json`."""

    id: str
    source: str
    text: str
    score: float
    metadata: dict[str, Any]
    collection: str = Field(default="", description="the index it is from, where several are searched")


class Searched(BaseModel):
    """The result of a search."""

    passages: list[PassageFound]


def server(strategy: str, options: Mapping[str, Any], about: str = "", name: str = "documents", queue: Queue | None = None) -> Server[Any]:
    """Return the server, for any transport. Raise UsageError for wrong options.

    `about` describes the documents, `name` is the suffix of the tools' names; a `queue` decides when a question begins.
    """
    _, settings = configure(strategy, options)
    about = check_text(about) or about_of(settings.index)
    if not re.fullmatch(r"[\w-]{1,50}", name, re.ASCII):
        raise UsageError(f"a tool cannot be called {'research_' + name!r}", "take letters, digits, _ and - for the name")
    research = research_tool(
        strategy, name=f"research_{name}", about=about, watch=lambda kind, event: _watching.get()(kind, event), queue=queue, **options
    )
    search = search_tool(settings.index, settings.k, name=f"search_{name}", about=about, filter=settings.filter)
    tools = {tool.name: tool for tool in (research, search)}
    offered = [_described(research, Researched), _described(search, Searched)]

    async def list_tools(context: ServerRequestContext[Any], given: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=offered)

    async def call_tool(context: ServerRequestContext[Any], given: CallToolRequestParams) -> CallToolResult:
        if given.name not in tools:
            raise MCPError(INVALID_PARAMS, truncate_message(f"unknown tool {given.name!r} — call {' or '.join(tools)}"))
        clear_cache()  # a model's server may have come up since the last call
        try:
            async with _telling(context.session):
                said: ToolMessage = await tools[given.name].ainvoke(
                    {"type": "tool_call", "id": "1", "name": given.name, "args": given.arguments or {}}
                )
        except Exception as error:  # what no message was written for: the library would give its text, whatever that holds, as code 0
            told = scrub(one_line(f"{given.name} failed with {type(error).__name__}: {error}"))
            raise MCPError(INTERNAL_ERROR, truncate_message(f"{told} — please report it")) from error
        found = {"passages": said.artifact} if isinstance(said.artifact, list) else said.artifact
        if isinstance(found, dict) and "notices" in found:
            found["notices"] = for_callers(found["notices"])
        text = TextContent(text=_encodable(str(said.content)))
        return CallToolResult(content=[text], structured_content=_encodable(found), is_error=said.status == "error")

    told = INSTRUCTIONS.format(about=about, research=research.name, search=search.name)
    return Server("ramify", version=version("ramify-rag"), instructions=told, on_list_tools=list_tools, on_call_tool=call_tool)


def stateless(made: Server[Any]) -> StreamableHTTPSessionManager:
    """Return what answers the requests to a server, while its `run()` is entered."""
    return StreamableHTTPSessionManager(made, stateless=True, max_request_body_size=BODY)


def route(manager: StreamableHTTPSessionManager, users: Mapping[str, str]) -> Route:
    """Return the route; where there are users, requests must carry a token."""
    return Route(PREFIX, StreamableHTTPASGIApp(manager), methods=METHODS, middleware=[Middleware(Tokens, users=users)])


def application(made: Server[Any], users: Mapping[str, str], origins: Sequence[str] = ()) -> Starlette:
    """Return the application of `ramify mcp --http`; `origins` are allowed besides this machine's."""
    manager = stateless(made)
    return guarded([route(manager, users)], origins, METHODS, "ramify mcp --http", {"/": refusal}, lambda app: manager.run())


def in_turn(questions: Questions) -> Queue:
    """Return a queue that answers questions in turn with all others of a server; one that is given up, or outlives it, is stopped."""

    async def wait(run: Callable[[], Awaitable[Result]]) -> Result:
        asked = questions.ask(ASKING, lambda watch, reviewer: run())
        try:
            return await asked.outcome()
        finally:
            asked.stop(GONE)

    return wait


def refusal(failure: Failure) -> dict[str, Any]:
    """Return the body of a refused request: an error of the protocol, which clients show."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": failure.message}}


async def serve(made: Server[Any]) -> None:
    """Serve on stdin and stdout until the client closes stdin and is told all that it asked, or goes away."""
    try:
        async with stdio_server() as (reading, writing), asyncio.TaskGroup() as group:
            passed, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            reply, replies = anyio.create_memory_object_stream[SessionMessage](0)
            unanswered = _Unanswered()
            group.create_task(_forward(reading, writing, passed, unanswered))
            group.create_task(_write(replies, writing, unanswered))
            await made.run(receive, reply, made.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):  # nobody reads what is written
        pass


class _Unanswered:
    """The requests that the client waits for: the library would drop them where stdin ends."""

    def __init__(self) -> None:
        self._numbers: set[str] = set()
        self.none = asyncio.Event()
        self.none.set()

    def see(self, message: JSONRPCMessage) -> None:
        """Count a message of the client or to it. What the client cancels is not answered."""
        if isinstance(message, JSONRPCRequest):
            self._numbers.add(str(message.id))
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            self._numbers.discard(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._numbers.discard(str((message.params or {}).get("requestId")))
        (self.none.clear if self._numbers else self.none.set)()


async def _forward(
    reading: ReadStream[SessionMessage | Exception],
    writing: WriteStream[SessionMessage],
    passed: WriteStream[SessionMessage | Exception],
    unanswered: _Unanswered,
) -> None:
    """Forward messages of the client, answer unreadable ones, which the library would ignore, and end when all is answered."""
    async with passed:
        async for message in reading:
            if isinstance(message, Exception):
                await writing.send(SessionMessage(_unreadable(message)))
            else:
                unanswered.see(message.message)
                await passed.send(message)
        await unanswered.none.wait()


async def _write(replies: ReadStream[SessionMessage], writing: WriteStream[SessionMessage], unanswered: _Unanswered) -> None:
    """Forward messages to the client until there are no more, and close the way to it, so that the process can end."""
    async with writing:
        async for message in replies:
            await writing.send(message)
            unanswered.see(message.message)


def _unreadable(error: Exception) -> JSONRPCResponse | JSONRPCError:
    """Return the reply to an unreadable message: an error result for a tool call, else a protocol error.

    The parser of the library refuses half a surrogate pair (\\ud800), which Python's own takes: so the number of the call is known.
    """
    first: Any = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else {"msg": str(error), "input": ""}
    try:
        asked = json.loads(first["input"]) if isinstance(first["input"], str) else first["input"]
    except (ValueError, RecursionError):
        asked = None
    told = asked if isinstance(asked, dict) else {}
    number = told["id"] if isinstance(told.get("id"), int) or (isinstance(told.get("id"), str) and is_unicode(told["id"])) else None
    what = truncate_message(one_line(f"what was sent is no message that can be read: {first['msg']}"))
    line = f"{what} — send JSON in UTF-8, without halves of surrogate pairs"
    if number is None or told.get("method") != "tools/call":
        return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=PARSE_ERROR if asked is None else INVALID_REQUEST, message=line))
    result = {"content": [{"type": "text", "text": f"error: {line}"}], "isError": True}
    return JSONRPCResponse(jsonrpc="2.0", id=number, result=result)


def _encodable(value: T) -> T:
    """Replace characters that cannot be encoded, which would end the server."""
    encoded: T = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return encoded


def _described(tool: StructuredTool, output: type[BaseModel]) -> Tool:
    arguments = tool.get_input_jsonschema()
    return Tool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema={part: arguments[part] for part in ("type", "properties", "required")},
        output_schema=output.model_json_schema(mode="serialization"),
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


@asynccontextmanager
async def _telling(session: ServerSession) -> AsyncIterator[None]:
    """Report progress to the client as each step and branch begins."""
    doings: asyncio.Queue[str] = asyncio.Queue()

    def watch(kind: str, event: Any) -> None:
        if doing := beginning(kind, event):
            doings.put_nowait(doing)

    async def tell() -> None:
        count = 0
        while doing := await doings.get():
            count += 1
            await session.report_progress(count, None, doing)

    teller = asyncio.create_task(tell())
    token = _watching.set(watch)
    try:
        yield
        doings.put_nowait("")
        await teller
    finally:
        _watching.reset(token)
        teller.cancel()
