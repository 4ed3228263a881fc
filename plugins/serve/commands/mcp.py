"""ramify mcp: the tools for agents over MCP, on stdin and stdout or over HTTP."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from ramify.serve.commands.serve import require_token, run_server
from ramify.studio.commands import Command
from ramify.studio.commands.studio import Origins, bind_socket
from ramify.studio.console.options import AllowPickle, BaseUrl, Indexes, ModelName, Profile, Settings, Strategy, question_options
from ramify.studio.console.streams import err, note
from ramify.tools.errors import ModelError, RamifyError, UsageError

TOKEN_VARIABLE = "RAMIFY_MCP_TOKEN"
HOST, PORT, AT_ONCE = "127.0.0.1", 8485, 4
About = Annotated[
    str, typer.Option(metavar="TEXT", help="Description of the documents for the calling model, such as: letters of Ada Lovelace.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="Suffix of the tools' names: research_NAME, search_NAME, grep_NAME.")]
Http = Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, for clients that are given an address.")]
HttpHost = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help=f"With --http: address; other than {HOST}, it needs --token. [{HOST}]")
]
HttpPort = Annotated[int | None, typer.Option("--port", metavar="NUMBER", min=1, max=65535, help=f"With --http: port. [{PORT}]")]
Token = Annotated[
    list[str] | None,
    typer.Option(
        "--token", metavar="NAME:SECRET", envvar=TOKEN_VARIABLE,
        help="With --http: a token that requests need; repeatable, separated by spaces in the variable.",
    ),
]  # fmt: skip


def mcp_command(
    strategy: Strategy = None,
    index: Indexes = None,
    allow_pickle: AllowPickle = False,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    profile: Profile = None,
    about: About = "",
    name: Name = "documents",
    http: Http = False,
    host: HttpHost = None,
    port: HttpPort = None,
    token: Token = None,
    allow_origin: Origins = None,
) -> None:
    """Serve research, search and exact strings as MCP tools: on stdin and stdout, for a client that starts this command, or with --http."""
    if find_spec("mcp") is None:
        raise RamifyError("the library of MCP is not installed", "run `pip install 'ramify-rag[mcp]'`")
    options = question_options(settings, index, allow_pickle, model=model, base_url=base_url, profile=profile)
    with err().status("loading …"):
        from ramify.graphs.choice import choose_strategy

        strategy = strategy or choose_strategy(options)
    if http:
        return _serve_http(strategy, options, about, name, host or HOST, port or PORT, token or [], allow_origin or [])
    if unusable := [flag for flag, value in (("--host", host), ("--port", port), ("--allow-origin", allow_origin)) if value]:
        raise UsageError(f"{unusable[0]} is for MCP over HTTP, and this is served on stdin and stdout", "add --http, or omit it")
    from ramify.serve.mcp import create_server
    from ramify.serve.mcp_stdio import serve_stdio

    server = create_server(strategy, options, about, name)
    for line in _startup_notices(name, "an MCP client on stdin and stdout; Ctrl-C ends it", strategy, options):
        note(line)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that reads stdin would block a graceful shutdown
    asyncio.run(serve_stdio(server))


def _serve_http(
    strategy: str, options: dict[str, Any], about: str, name: str, host: str, port: int, tokens: list[str], allow_origin: list[str]
) -> None:
    require_token(host, tokens, TOKEN_VARIABLE)
    listening = bind_socket(host, port)
    with err().status("loading …"):
        from ramify.serve.mcp import PREFIX, create_mcp_app, create_server, shared_queue
        from ramify.serve.questions import QuestionQueue
        from ramify.serve.transport import parse_tokens
        from ramify.studio.server.guard import host_and_port, parse_origin

        questions, address = QuestionQueue(AT_ONCE), f"http://{host_and_port(host, port)}"
        server = create_server(strategy, options, about, name, shared_queue(questions))
        app = create_mcp_app(server, parse_tokens(tokens), [*map(parse_origin, allow_origin), address])
    run_server(app, questions, listening, _startup_notices(name, f"MCP clients at {address}{PREFIX}; Ctrl-C stops it", strategy, options))
    note("the server has stopped")


def _startup_notices(name: str, where: str, strategy: str, options: dict[str, Any]) -> Iterator[str]:
    """Yield a line on what is served, and the notices on the model, which the results of calls do not repeat."""
    from ramify.graphs.strategies import configure
    from ramify.nodes.asking.ask import current_model
    from ramify.tools.search.searcher import has_own_indexes

    _, settings = configure(strategy, options)
    tools = ["research", "search", *(["grep"] if has_own_indexes(settings.index) and not settings.filter else [])]
    yield f"serving {', '.join(f'{tool}_{name}' for tool in tools)} to {where}"
    if settings.model == "auto":
        with suppress(ModelError):  # the next call reports it, or finds a model
            yield from current_model(settings).notices


COMMAND = Command(mcp_command, "Serve and agents", after="serve")
