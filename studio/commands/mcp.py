"""ramify mcp: the tools for agents over MCP, on stdin and stdout or over HTTP."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from ramify.studio.commands.serve import check_token, run_server
from ramify.studio.commands.studio import Origins, claim
from ramify.studio.console.options import AllowPickle, BaseUrl, Indexes, ModelName, Profile, Settings, Strategy, question_options
from ramify.studio.console.streams import err, note
from ramify.tools.errors import ModelError, RamifyError, UsageError

VARIABLE = "RAMIFY_MCP_TOKEN"
HOST, PORT, AT_ONCE = "127.0.0.1", 8485, 4
About = Annotated[
    str, typer.Option(metavar="TEXT", help="Description of the documents for the calling model, such as: letters of Ada Lovelace.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="Suffix of the tools' names: research_NAME, search_NAME.")]
Http = Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp, for clients that are given an address.")]
HttpHost = Annotated[
    str | None, typer.Option("--host", metavar="ADDRESS", help=f"With --http: address; other than {HOST}, it needs --token. [{HOST}]")
]
HttpPort = Annotated[int | None, typer.Option("--port", metavar="NUMBER", min=1, max=65535, help=f"With --http: port. [{PORT}]")]
Token = Annotated[
    list[str] | None,
    typer.Option(
        "--token", metavar="NAME:SECRET", envvar=VARIABLE,
        help="With --http: a token that requests must carry; repeatable, in the variable with spaces between.",
    ),
]  # fmt: skip


def mcp(
    strategy: Strategy = "prune",
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
    """Serve research and search as MCP tools: on stdin and stdout, for a client that starts this command, or with --http."""
    if find_spec("mcp") is None:
        raise RamifyError("the protocol's library is not installed", "run `pip install 'ramify-rag[mcp]'`")
    options = question_options(settings, index, allow_pickle, model=model, base_url=base_url, profile=profile)
    if http:
        return _serve_http(strategy, options, about, name, host or HOST, port or PORT, token or [], allow_origin or [])
    if given := [flag for flag, value in (("--host", host), ("--port", port), ("--allow-origin", allow_origin)) if value]:
        raise UsageError(f"{given[0]} is for MCP over HTTP, and this is served on stdin and stdout", "add --http, or leave it out")
    from ramify.studio.serve.mcp import create_server, serve_stdio

    made = create_server(strategy, options, about, name)
    for line in _told(name, "an MCP client on stdin and stdout; Ctrl-C ends it", strategy, options):
        note(line)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that waits for a line would hold up a gentler end; nothing is written here
    asyncio.run(serve_stdio(made))


def _serve_http(
    strategy: str, options: dict[str, Any], about: str, name: str, host: str, port: int, tokens: list[str], allow_origin: list[str]
) -> None:
    check_token(host, tokens, VARIABLE)
    listening = claim(host, port)
    with err().status("loading …"):
        from ramify.studio.serve.mcp import PREFIX, create_mcp_app, create_server, shared_queue
        from ramify.studio.serve.questions import QuestionQueue
        from ramify.studio.serve.transport import parse_tokens
        from ramify.studio.server.guard import host_and_port, parse_origin

        questions, address = QuestionQueue(AT_ONCE), f"http://{host_and_port(host, port)}"
        made = create_server(strategy, options, about, name, shared_queue(questions))
        app = create_mcp_app(made, parse_tokens(tokens), [*map(parse_origin, allow_origin), address])
    run_server(app, questions, listening, _told(name, f"MCP clients at {address}{PREFIX}; Ctrl-C stops it", strategy, options))
    note("the server has stopped")


def _told(name: str, where: str, strategy: str, options: dict[str, Any]) -> Iterator[str]:
    """Yield what is served, and, once, what there is to say where there is no language model: the results of calls do not."""
    from ramify.graphs.strategies import configure
    from ramify.nodes.asking.ask import current_model

    yield f"serving research_{name} and search_{name} to {where}"
    _, settings = configure(strategy, options)
    if settings.model == "auto":
        with suppress(ModelError):  # the next call says it, or finds a model
            yield from current_model(settings).notices
