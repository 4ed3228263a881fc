"""ramify serve: questions over HTTP, for a browser, for scripts, and for programs that speak OpenAI's or Ollama's protocol."""

import asyncio
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.commands.studio import Origins, Rerankers, claim
from ramify.studio.console.options import BaseUrl, Profile, Settings, Strategy, options_of
from ramify.studio.console.streams import err, note
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.scrub import mask_address
from ramify.tools.server_address import is_loopback

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from ramify.studio.serve.catalog import Catalog
    from ramify.studio.serve.collections import Watched
    from ramify.studio.serve.questions import Questions

VARIABLE = "RAMIFY_SERVE_TOKEN"
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="DIR", help="An index to serve, by folder or address; repeatable. Without it, the demo corpus."),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="NAME", help="A model that questions may name, as for `ramify ask`; repeatable. [auto]"),
]
Port = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=65535, help="Port of the server.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address of the server; other than 127.0.0.1, it needs --token.")]
TokenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--token", metavar="NAME:SECRET", envvar=VARIABLE,
        help="A token that requests must carry, and whose conversations it opens; repeatable, in the variable with spaces between.",
    ),
]  # fmt: skip
AtOnce = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=1000, help="Questions answered at the same time; the rest wait.")]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory", metavar="ADDRESS", envvar="RAMIFY_MEMORY",
        help="Where conversations are stored: postgresql://HOST/DATABASE or sqlite:FILE. [a file in the user's cache]",
    ),
]  # fmt: skip
Documents = Annotated[
    list[Path] | None,
    typer.Option("--documents", metavar="DIR", help="A folder that users may make collections of, with those below it; repeatable."),
]
Watch = Annotated[
    list[Path] | None,
    typer.Option(
        "--watch", metavar="DIR",
        help="A folder whose documents are a collection that follows their changes, as with `ramify watch`; repeatable.",
    ),
]  # fmt: skip
NEEDED = ("starlette", "uvicorn", "h11", "langgraph.checkpoint.sqlite", "mcp")


def serve(
    index: Indexes = None,
    model: Models = None,
    strategy: Strategy = "prune",
    port: Port = 8484,
    host: Host = "127.0.0.1",
    token: TokenOption = None,
    base_url: BaseUrl = None,
    settings: Settings = None,
    profile: Profile = None,
    rerank: Rerankers = None,
    at_once: AtOnce = 4,
    memory: Memory = None,
    documents: Documents = None,
    watch: Watch = None,
    allow_origin: Origins = None,
) -> None:
    """Serve questions over HTTP: to a browser, to scripts, and in OpenAI's and Ollama's protocols; Ctrl-C stops it."""
    if not all(map(_installed, NEEDED)):
        raise RamifyError("the server is not installed", "run `pip install 'ramify-rag[serve]'`")
    options = options_of(settings, base_url=base_url, profile=profile)
    check_token(host, token, VARIABLE)
    listening = claim(host, port)
    from ramify.tools.index.index_store import is_address

    places = [one if is_address(one) else str(Path(one).expanduser().absolute()) for one in index or []]
    followed = _watched(watch or [], places)
    places += [one.where for one in followed if one.where not in places]
    with err().status("loading …"):
        from ramify.graphs.ratings import CONVERSATIONS
        from ramify.studio.serve.app import application
        from ramify.studio.serve.collections import Collections
        from ramify.studio.serve.questions import Questions
        from ramify.studio.serve.serving import Serving, Threads
        from ramify.studio.serve.transport import users_of
        from ramify.studio.server.guard import origin_of, place

        catalog, users = _catalog(places, model or ["auto"], strategy, options, rerank or []), users_of(token or [])
        for folder in documents or []:
            _check_folder("--documents", folder)
        threads = Threads(memory or f"sqlite:{_own_folder() / CONVERSATIONS}")
        asyncio.run(threads.prepare())
        released = [folder.expanduser() for folder in documents or []]
        made = Collections(catalog, _own_folder() / "collections", released, bool(users))
        serving, address = Serving(catalog, Questions(at_once), threads, made, users, followed), f"http://{place(host, port)}"
        app = application(serving, [*map(origin_of, allow_origin or []), address])
    collections = ", ".join(f"{one.name} ({mask_address(one.where)})" for one in catalog.collections.values())
    told = f"serving {collections} at {address}; conversations are stored in {mask_address(threads.memory)}; Ctrl-C stops it"
    run_server(app, serving.questions, listening, [told])
    note("the server has stopped; its conversations are stored")


def check_token(host: str, token: list[str] | None, variable: str) -> None:
    """Raise UsageError where other machines can reach the host, and there is no token."""
    if not token and not is_loopback(f"http://[{host}]" if ":" in host else f"http://{host}"):
        what = f"--host {host} can be reached from other machines, and there is no token"
        raise UsageError(what, f"set {variable}, or give --token NAME:SECRET")


def run_server(app: "Starlette", questions: "Questions", listening: socket.socket, told: Iterable[str]) -> None:
    """Serve until a signal comes, and say what is told once clients can connect; what runs at the end is stopped."""
    from ramify.studio.serve.transport import WebServer

    server = WebServer(app, questions)
    listening.listen()  # who reads the address can connect
    for line in told:
        note(line)
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises again what it has obeyed
    with listening, suppress(KeyboardInterrupt):
        server.run([listening])


def _installed(module: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(module) is not None
    return False


def _watched(folders: list[Path], indexes: list[str]) -> "list[Watched]":
    """Find the indexes of folders that are watched; one that has none yet is indexed first."""
    if not folders:
        return []
    from ramify.studio.console.progress_bar import bar
    from ramify.studio.serve.collections import watched

    if find_spec("watchfiles") is None:
        raise RamifyError("the library that notices changed files is not installed", "run `pip install 'ramify-rag[watch]'`")
    for folder in folders:
        _check_folder("--watch", folder)
    found = watched([folder.expanduser() for folder in folders], indexes, _own_folder() / "watched")
    for one in found:
        with bar() as progress:
            one.prepare(progress)
    return found


def _check_folder(option: str, folder: Path) -> None:
    if not folder.expanduser().is_dir():
        raise UsageError(f"{option} {str(folder)!r} is no folder", "name a folder that is there")


def _catalog(places: list[str], models: list[str], strategy: str, options: dict[str, Any], rerank: list[str]) -> "Catalog":
    """Open what is served; an error now and not at the first question."""
    from ramify.graphs.strategies import configure
    from ramify.studio.serve.catalog import Catalog, named
    from ramify.studio.server.bounds import declare
    from ramify.tools.models.gguf import GGUF, find_gguf

    configure(strategy, options)
    files = [one.removeprefix(GGUF) for one in models if one.startswith(GGUF)]
    for file in files:
        find_gguf(file)
    named_by_operator = [value for name in ("rerank", "check") if isinstance(value := options.get(name), str)]
    base_urls = str(options.get("base_url") or "").split()
    declare(places, base_urls, [Path(file) for file in files], [*rerank, *named_by_operator], options.get("profile"))
    catalog = Catalog(named(places), strategy, models, options)
    for collection in catalog.collections.values():
        catalog.options_of(strategy, catalog.selection(collection.name))
        collection.manifest()
    return catalog


def _own_folder() -> Path:
    """Return the folder of the server in the user's cache."""
    from ramify.tools.new_files import cache_folder, make_folder

    folder = cache_folder().absolute() / "serve"
    make_folder(folder)
    return folder
