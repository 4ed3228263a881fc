"""An MCP server with the tools for agents: a route of `ramify serve`, the application of `ramify mcp --http`, and for `mcp_stdio`.

Over HTTP it is stateless, as in the specification of 2026-07-28. Clients of earlier specifications are answered, too, without a session.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Any, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from mcp import MCPError
from mcp.server.apps import EXTENSION_ID
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from ramify.agents import grep_tool
from ramify.graphs.run import Result, ResultUsage, Watch, describe_start
from ramify.graphs.strategies import configure
from ramify.graphs.tool import Queue, describe_index, for_callers, research_tool, search_tool
from ramify.nodes.state import StoppedBy
from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.serve._mcp_app import APP_URI, PASSAGES_META, TOOL_META, cited_in_branches, list_app, may_show_apps, read_app
from ramify.serve._public import public_citations, public_index, public_passage, public_result, public_source
from ramify.serve.questions import CLIENT_GONE, Failure, QuestionQueue
from ramify.serve.transport import TokenMiddleware, create_guarded_app
from ramify.studio.server.guard import MAX_BODY_BYTES
from ramify.testing import verify
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.models import clear_cache
from ramify.tools.quoting import hide_folders, one_line, truncate_message
from ramify.tools.scrub import scrub
from ramify.tools.search.searcher import has_own_indexes
from ramify.tools.user_input import check_text

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
    kinds: list[tuple[type[BaseModel], dict[str, Any] | None]] = [(ResearchOutput, TOOL_META), (SearchOutput, None), (GrepOutput, None)]
    definitions = [_tool_definition(tool, *kind) for tool, kind in zip(first_tools.values(), kinds, strict=False)]

    async def list_tools(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=definitions)

    async def list_resources(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListResourcesResult:
        return list_app()

    async def read_resource(context: ServerRequestContext[Any], params: ReadResourceRequestParams) -> ReadResourceResult:
        if params.uri != APP_URI:
            raise MCPError(INVALID_PARAMS, truncate_message(f"unknown resource {params.uri!r} — read {APP_URI}"))
        return await asyncio.to_thread(read_app)

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        if params.name not in first_tools:
            raise MCPError(INVALID_PARAMS, truncate_message(f"unknown tool {params.name!r} — call {' or '.join(first_tools)}"))
        clear_cache()  # look again for model servers: one may have been started since the last call
        try:
            tools = await asyncio.to_thread(lambda: create_tools(options())) if callable(options) else first_tools
            async with _report_progress(context.session) as passages:
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
        cited: list[dict[str, Any]] = []
        if isinstance(output, dict) and "tree" in output and may_show_apps(context):
            cited = await asyncio.to_thread(cited_in_branches, output, passages)
        content = str(message.content)
        if queue is not None:
            cited = [public_source(source) for source in cited]
            output, content = _publish(output, content, message.status == "error", name_index)
        text = TextContent(text=_replace_surrogates(content))
        meta = {PASSAGES_META: _replace_surrogates(cited)} if cited else None
        return CallToolResult(
            content=[text], structured_content=_replace_surrogates(output), is_error=message.status == "error", _meta=meta
        )

    instructions = INSTRUCTIONS.format(about=about or describe_index(configure(strategy, first_options)[1].index), name=name)
    server = Server[Any](
        "ramify", version=version("ramify-rag"), instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool,
        on_list_resources=list_resources, on_read_resource=read_resource,
    )  # fmt: skip
    server.extensions[EXTENSION_ID] = {}
    return server


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


def _replace_surrogates(value: T) -> T:
    """Replace unpaired surrogates, which cannot be encoded and would stop the server."""
    encoded: T = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return encoded


def _tool_definition(tool: StructuredTool, output: type[BaseModel], meta: dict[str, Any] | None = None) -> Tool:
    arguments = tool.get_input_jsonschema()
    return Tool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        description=tool.description,
        input_schema={part: arguments[part] for part in ("type", "properties", "required")},
        output_schema=output.model_json_schema(mode="serialization"),
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
        _meta=meta,
    )


@asynccontextmanager
async def _report_progress(session: ServerSession) -> AsyncIterator[dict[str, Passage]]:
    """Report progress to the client when a step or branch begins; yield the passages of the run, by id, which it fills."""
    steps: asyncio.Queue[str] = asyncio.Queue()
    passages: dict[str, Passage] = {}

    def watch(kind: str, event: Any) -> None:
        if kind == "values":
            passages.update(event.get("passages") or {})
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
        yield passages
        steps.put_nowait("")
        await sender
    finally:
        _current_watch.reset(token)
        sender.cancel()
