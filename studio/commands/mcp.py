"""ramify mcp: the tools for agents over MCP, on stdin and stdout."""

import asyncio
import signal
from importlib.util import find_spec
from typing import Annotated

import typer

from ramify.studio.console.options import AllowPickle, BaseUrl, Indexes, ModelName, Settings, Strategy, loaded_stores, options_of
from ramify.studio.console.streams import note
from ramify.tools.errors import RamifyError

About = Annotated[
    str, typer.Option(metavar="TEXT", help="Description of the documents for the calling model, such as: letters of Ada Lovelace.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="Suffix of the tools' names: research_NAME, search_NAME.")]


def mcp(
    strategy: Strategy = "prune",
    index: Indexes = None,
    allow_pickle: AllowPickle = False,
    model: ModelName = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    about: About = "",
    name: Name = "documents",
) -> None:
    """Serve research and search as MCP tools on stdin and stdout, for a client that starts this command."""
    if find_spec("mcp") is None:
        raise RamifyError("the protocol's library is not installed", "run `pip install 'ramify-rag[mcp]'`")
    stores = loaded_stores(index, allow_pickle)
    options = options_of(settings, index=stores, model=model, base_url=base_url)
    from ramify.studio.server.mcp import serve, server

    made = server(strategy, options, about, name)
    note(f"serving research_{name} and search_{name} to an MCP client on stdin and stdout; Ctrl-C ends it")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that waits for a line would hold up a gentler end; nothing is written here
    asyncio.run(serve(made))
