"""An MCP server with the tools for agents: on stdin and stdout, as a route of `ramify serve`, and as `ramify mcp --http`.

Over HTTP it is stateless, as in the specification of 2026-07-28. Clients of earlier specifications are answered, too, without a session.
"""

import asyncio
import json
import re
from collections import Counter
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
    RequestId,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from ramify.agents import grep_tool
from ramify.graphs.run import Result, ResultUsage, Watch, describe_start
from ramify.graphs.strategies import configure
from ramify.graphs.tool import Queue, describe_index, for_callers, research_tool, search_tool
from ramify.nodes.state import StoppedBy
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.serve._public import public_citations, public_index, public_passage, public_result
from ramify.serve.questions import CLIENT_GONE, Failure, QuestionQueue
from ramify.serve.transport import TokenMiddleware, create_guarded_app
from ramify.studio.server.guard import MAX_BODY_BYTES
from ramify.testing import verify
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.models import clear_cache
from ramify.tools.quoting import hide_folders, one_line, truncate_message
from ramify.tools.scrub import scrub
from ramify.tools.search.searcher import has_own_indexes
from ramify.tools.user_input import check_text, is_unicode

T = TypeVar("T")
PREFIX = "/mcp"
METHODS = ("POST",)
MCP_USER = "mcp"
"""The user of questions over MCP: clients stop a question by closing the connection."""
_current_watch: ContextVar[Watch] = ContextVar("ramify_mcp_watching")
"""The watcher of the run that belongs to the current tool call."""
INSTRUCTIONS = (
    "research_{name} answers a question from {about}, with sources and a confidence; give it a whole question, it splits hard ones itself. "
    "search_{name} finds passages there to read. 'Unknown' means that nothing was found: then do not guess."
)


class Checked(BaseModel):
    """What `ramify verify` says of an answer: no model was asked for it."""

    hold: int = Field(description="steps that hold: branches with an answer, and how the answer follows from them")
    fail: int = Field(description="steps that do not hold")
    unchecked: int = Field(description="steps that cannot be checked, such as those that rest on the model alone")
    total: int
    summary: str = Field(description="the same in words")


class ResearchOutput(BaseModel):
    """The result of a question, as in `ramify ask --json`, and what of it can be checked."""

    question: str
    answer: str = Field(description="Unknown where none was found")
    text: str = Field(description="the answer in sentences, with the numbers of its citations")
    sentences: list[Sentence]
    quoted: bool = Field(description="whether the text is quoted from the passages word for word")
    confidence: float | None = Field(ge=0, le=1, description="how likely the answer is right; none beside Unknown")
    explanation: str = Field(description="why the answer is Unknown; else how it follows, if a model says so")
    withheld: str = Field(description="which answer was withheld because it is not sure enough, and why; else empty")
    citations: list[Citation] = Field(description="the answer does not rest on those that are `closest`")
    tree: list[dict[str, Any]] = Field(description="The branches: path, parent, question, kind, status, answer, confidence, note, …")
    usage: ResultUsage
    stopped_by: StoppedBy
    notices: list[str]
    index: str = Field(description="what was searched; empty where nothing was")
    checked: Checked


class PassageOutput(BaseModel):
    """A passage, as in `ramify search --json`."""

    id: str
    source: str
    text: str
    score: float
    metadata: dict[str, Any]
    collection: str = Field(default="", description="the index it is from, where several are searched")


class SearchOutput(BaseModel):
    """The result of a search."""

    passages: list[PassageOutput]


class GrepOutput(BaseModel):
    """The places of an exact string, as in `ramify grep --json`."""

    citations: list[Citation] = Field(description="the first places: `quote` is the sentence or line")
    total: int = Field(description="places in all")
    searched: int = Field(description="passages that were searched; fewer than `passages` where the time was used up")
    passages: int


def create_server(
    strategy: str,
    options: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
    about: str = "",
    name: str = "documents",
    queue: Queue | None = None,
    name_index: Callable[[str], str] = public_index,
) -> Server[Any]:
    """Return the server, for any transport. Raise UsageError for invalid options.

    `options` may be a blocking function: then each call of a tool has the options of its time. `about` describes the documents, `name` is
    the suffix of the tools' names; a `queue` decides when a question starts, and is given by servers for others: they name no folders, and
    `name_index` changes the description of what was searched.
    """
    about = check_text(about)
    if not re.fullmatch(r"[\w-]{1,50}", name, re.ASCII):
        raise UsageError(f"{'research_' + name!r} is not a valid name of a tool", "use up to 50 letters, digits, _ and - for the name")

    def create_tools(options: Mapping[str, Any]) -> dict[str, StructuredTool]:
        _, settings = configure(strategy, options)
        described = about or describe_index(settings.index)
        research = research_tool(
            strategy, name=f"research_{name}", about=described, watch=lambda kind, event: _current_watch.get()(kind, event), queue=queue,
            **options,
        )  # fmt: skip
        search = search_tool(settings.index, settings.k, name=f"search_{name}", about=described, filter=settings.filter)
        greps = has_own_indexes(settings.index) and not settings.filter
        grep = [grep_tool(settings.index, name=f"grep_{name}", about=described)] if greps else []
        return {tool.name: tool for tool in (research, search, *grep)}

    first_options = options() if callable(options) else options
    first_tools = create_tools(first_options)
    outputs: list[type[BaseModel]] = [ResearchOutput, SearchOutput, GrepOutput]
    definitions = [_tool_definition(tool, output) for tool, output in zip(first_tools.values(), outputs, strict=False)]

    async def list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=definitions)

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        if params.name not in first_tools:
            raise MCPError(INVALID_PARAMS, truncate_message(f"unknown tool {params.name!r} — call {' or '.join(first_tools)}"))
        clear_cache()  # look again for model servers: one may have been started since the last call
        try:
            tools = await asyncio.to_thread(lambda: create_tools(options())) if callable(options) else first_tools
            async with _report_progress(context.session):
                message: ToolMessage = await tools[params.name].ainvoke(
                    {"type": "tool_call", "id": "1", "name": params.name, "args": params.arguments or {}}
                )
        except RamifyError as error:  # of indexes that cannot be opened
            return CallToolResult(content=[TextContent(text=f"error: {hide_folders(one_line(error))}")], is_error=True)
        except Exception as error:  # an unexpected error: the library would send its text unmasked, with code 0
            problem = scrub(one_line(f"{params.name} failed with {type(error).__name__}: {error}"))
            raise MCPError(INTERNAL_ERROR, truncate_message(f"{problem} — please report it")) from error
        output = {"passages": message.artifact} if isinstance(message.artifact, list) else message.artifact
        if isinstance(output, dict) and "notices" in output:
            output["notices"] = for_callers(output["notices"])
        if isinstance(output, dict) and "tree" in output:
            checks = await asyncio.to_thread(verify, output)
            output["checked"] = {**checks.to_json()["steps"], "summary": checks.summary()}
        content = str(message.content)
        if queue is not None:
            output, content = _publish(output, content, message.status == "error", name_index)
        text = TextContent(text=_replace_surrogates(content))
        return CallToolResult(content=[text], structured_content=_replace_surrogates(output), is_error=message.status == "error")

    instructions = INSTRUCTIONS.format(about=about or describe_index(configure(strategy, first_options)[1].index), name=name)
    return Server("ramify", version=version("ramify-rag"), instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool)


def _publish(output: Any, content: str, is_error: bool, name_index: Callable[[str], str]) -> tuple[Any, str]:
    """Return the output of a tool and its text without folders of the server."""
    if is_error:
        return output, hide_folders(content)
    if isinstance(output.get("passages"), list):
        return {"passages": [public_passage(passage) for passage in output["passages"]]}, content
    if "index" not in output:
        return public_citations(output), content
    public = public_result(output, name_index)
    return public, content.replace(one_line(output["index"]), one_line(public["index"])) if output["index"] else content


def create_session_manager(server: Server[Any]) -> StreamableHTTPSessionManager:
    """Return the manager that answers HTTP requests to a server while its `run()` is entered."""
    return StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=MAX_BODY_BYTES)


def create_route(manager: StreamableHTTPSessionManager, users: Mapping[str, str]) -> Route:
    """Return the route; if there are users, requests need a token."""
    return Route(PREFIX, StreamableHTTPASGIApp(manager), methods=METHODS, middleware=[Middleware(TokenMiddleware, users=users)])


def create_mcp_app(server: Server[Any], users: Mapping[str, str], origins: Sequence[str] = ()) -> Starlette:
    """Return the application of `ramify mcp --http`; `origins` are allowed besides this machine's."""
    manager = create_session_manager(server)
    return create_guarded_app(
        [create_route(manager, users)], origins, METHODS, "ramify mcp --http", {"/": error_body}, lambda app: manager.run()
    )


def shared_queue(questions: QuestionQueue) -> Queue:
    """Return a queue shared with all other questions of a server; questions are stopped when cancelled, and when the server stops."""

    async def wait(run: Callable[[], Awaitable[Result]]) -> Result:
        running = questions.submit(MCP_USER, lambda watch, reviewer: run())
        try:
            return await running.wait_for_result()
        finally:
            running.stop(CLIENT_GONE)

    return wait


def error_body(failure: Failure) -> dict[str, Any]:
    """Return the body of an error response: a JSON-RPC error, which clients display."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": failure.message}}


async def serve_stdio(server: Server[Any]) -> None:
    """Serve on stdin and stdout until the client has closed stdin and all its requests are answered, or it has disconnected."""
    try:
        async with stdio_server() as (incoming, outgoing), asyncio.TaskGroup() as group:
            forwarded, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            reply, replies = anyio.create_memory_object_stream[SessionMessage](0)
            pending = _PendingRequests()
            group.create_task(_forward(incoming, outgoing, forwarded, pending))
            group.create_task(_write(replies, outgoing, pending))
            await server.run(receive, reply, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):  # stdout is closed
        pass


class _PendingRequests:
    """The requests that are not answered yet: the library would drop them at the end of stdin."""

    def __init__(self) -> None:
        self._ids: Counter[RequestId] = Counter()  # a client may give an id twice
        self.all_answered = asyncio.Event()
        self.all_answered.set()

    def track(self, message: JSONRPCMessage) -> None:
        """Track a message from or to the client. Cancelled requests are not answered."""
        if isinstance(message, JSONRPCRequest):
            self._ids[message.id] += 1
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            self._remove(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._remove((message.params or {}).get("requestId"))
        (self.all_answered.clear if self._ids else self.all_answered.set)()

    def _remove(self, request_id: object) -> None:
        """Remove one request of an id, if there is one."""
        if isinstance(request_id, int | str) and request_id in self._ids:
            self._ids[request_id] -= 1
            self._ids += Counter()  # drops what is zero


async def _forward(
    incoming: ReadStream[SessionMessage | Exception],
    outgoing: WriteStream[SessionMessage],
    forwarded: WriteStream[SessionMessage | Exception],
    pending: _PendingRequests,
) -> None:
    """Forward messages of the client, answer invalid ones, which the library would ignore, and return when all are answered."""
    async with forwarded:
        async for message in incoming:
            if isinstance(message, Exception):
                await outgoing.send(SessionMessage(_parse_error_reply(message)))
            else:
                pending.track(message.message)
                await forwarded.send(message)
        await pending.all_answered.wait()


async def _write(replies: ReadStream[SessionMessage], outgoing: WriteStream[SessionMessage], pending: _PendingRequests) -> None:
    """Forward messages to the client until there are no more, then close the stream, so that the process can end."""
    async with outgoing:
        async for message in replies:
            await outgoing.send(message)
            pending.track(message.message)


def _parse_error_reply(error: Exception) -> JSONRPCResponse | JSONRPCError:
    """Return the reply to an invalid message: an error result for a tool call, else a protocol error.

    The library's parser rejects unpaired surrogates (\\ud800), but Python's accepts them, so that the id of such a call is known.
    """
    failure: Any = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else {"msg": str(error), "input": ""}
    try:
        request = json.loads(failure["input"]) if isinstance(failure["input"], str) else failure["input"]
    except (ValueError, RecursionError):
        request = None
    fields = request if isinstance(request, dict) else {}
    request_id = (
        fields["id"] if isinstance(fields.get("id"), int) or (isinstance(fields.get("id"), str) and is_unicode(fields["id"])) else None
    )
    problem = truncate_message(one_line(f"the message is not valid: {failure['msg']}"))
    line = f"{problem} — send JSON in UTF-8, without unpaired surrogates"
    if request_id is None or fields.get("method") != "tools/call":
        return JSONRPCError(
            jsonrpc="2.0", id=request_id, error=ErrorData(code=PARSE_ERROR if request is None else INVALID_REQUEST, message=line)
        )
    result = {"content": [{"type": "text", "text": f"error: {line}"}], "isError": True}
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)


def _replace_surrogates(value: T) -> T:
    """Replace unpaired surrogates, which cannot be encoded and would stop the server."""
    encoded: T = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return encoded


def _tool_definition(tool: StructuredTool, output: type[BaseModel]) -> Tool:
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
async def _report_progress(session: ServerSession) -> AsyncIterator[None]:
    """Report progress to the client when a step or branch begins."""
    steps: asyncio.Queue[str] = asyncio.Queue()

    def watch(kind: str, event: Any) -> None:
        if step := describe_start(kind, event):
            steps.put_nowait(step)

    async def send_progress() -> None:
        count = 0
        while step := await steps.get():
            count += 1
            await session.report_progress(count, None, step)

    sender = asyncio.create_task(send_progress())
    token = _current_watch.set(watch)
    try:
        yield
        steps.put_nowait("")
        await sender
    finally:
        _current_watch.reset(token)
        sender.cancel()
