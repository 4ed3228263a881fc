"""ramify serve: questions over HTTP, for browsers, scripts, and clients of OpenAI's or Ollama's protocol."""

import asyncio
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.studio.commands import Command
from ramify.studio.commands.studio import Origins, Rerankers, bind_socket
from ramify.studio.console.options import BaseUrl, Profile, Settings, Strategy, merge_options
from ramify.studio.console.streams import err, note
from ramify.tools.errors import IndexingError, RamifyError, UsageError
from ramify.tools.scrub import mask_address
from ramify.tools.server_address import is_loopback
from ramify.tools.user_input import expand_path

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from ramify.serve.catalog import Catalog
    from ramify.serve.collection_tests import CollectionTests
    from ramify.serve.collections import WatchedFolder
    from ramify.serve.questions import QuestionQueue

TOKEN_VARIABLE = "RAMIFY_SERVE_TOKEN"
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
        "--token", metavar="NAME:SECRET", envvar=TOKEN_VARIABLE,
        help="A token that requests need, and the user whose conversations it opens; repeatable, separated by spaces in the variable.",
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
    typer.Option(
        "--documents", metavar="DIR", help="A folder of which, and of folders below it, users may create collections; repeatable."
    ),
]
Watch = Annotated[
    list[Path] | None,
    typer.Option(
        "--watch", metavar="DIR",
        help="A folder to serve as a collection that is kept up to date, as with `ramify watch`; repeatable.",
    ),
]  # fmt: skip
Tests = Annotated[
    list[str] | None,
    typer.Option(
        "--test", metavar="[COLLECTION=]FILE",
        help="A file of expectations (`ramify test`) of a collection, by default of the first: the page shows what came of it and runs it; "
        "of a watched folder it is run after each update. Repeatable.",
    ),
]  # fmt: skip
MaxCollections = Annotated[int, typer.Option(metavar="NUMBER", min=0, max=100_000, help="Collections that a user may create.")]
REQUIRED_MODULES = ("starlette", "uvicorn", "h11", "langgraph.checkpoint.sqlite", "mcp")


def serve_command(
    index: Indexes = None,
    model: Models = None,
    strategy: Strategy = None,
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
    max_collections: MaxCollections = 50,
    watch: Watch = None,
    test: Tests = None,
    allow_origin: Origins = None,
) -> None:
    """Serve questions over HTTP: to a browser, to scripts, and in OpenAI's and Ollama's protocols; Ctrl-C stops it."""
    if not all(map(_is_installed, REQUIRED_MODULES)):
        raise RamifyError("the server is not installed", "run `pip install 'ramify-rag[serve]'`")
    options = merge_options(settings, base_url=base_url, profile=profile)
    require_token(host, token, TOKEN_VARIABLE)
    listening_socket = bind_socket(host, port)
    from ramify.tools.index.index_store import is_store_address

    places = [place if is_store_address(place) else str(Path(place).expanduser().absolute()) for place in index or []]
    watched_folders = _prepare_watched_folders(watch or [], places)
    places += [watched_folder.where for watched_folder in watched_folders if watched_folder.where not in places]
    with err().status("loading …"):
        from ramify.graphs.choice import choose_strategy
        from ramify.graphs.ratings import CONVERSATIONS
        from ramify.serve.app import create_app
        from ramify.serve.collections import UserCollections
        from ramify.serve.questions import QuestionQueue
        from ramify.serve.service import QuestionService, UserThreads
        from ramify.serve.transport import parse_tokens
        from ramify.studio.server.guard import host_and_port, parse_origin

        models, given_strategy = model or ["auto"], strategy
        strategy = strategy or choose_strategy({**options, "model": models[0]})
        catalog, users = _open_catalog(places, models, strategy, options, rerank or []), parse_tokens(token or [])
        tests = _open_tests(test or [], catalog, given_strategy)
        for folder in documents or []:
            _check_folder("--documents", folder)
        threads = UserThreads(memory or f"sqlite:{_data_folder() / CONVERSATIONS}")
        asyncio.run(threads.create_tables())
        allowed_folders = [folder.expanduser() for folder in documents or []]
        user_collections = UserCollections(catalog, _data_folder() / "collections", allowed_folders, bool(users), max_collections)
        service, address = (
            QuestionService(catalog, QuestionQueue(at_once), threads, user_collections, users, watched_folders, tests),
            f"http://{host_and_port(host, port)}",
        )
        app = create_app(service, [*map(parse_origin, allow_origin or []), address])
    collections = ", ".join(f"{collection.name} ({mask_address(collection.where)})" for collection in catalog.collections.values())
    startup_notice = f"serving {collections} at {address}; conversations are stored in {mask_address(threads.memory)}; Ctrl-C stops it"
    run_server(app, service.questions, listening_socket, [startup_notice])
    note("the server has stopped; its conversations are stored")


def require_token(host: str, token: list[str] | None, variable: str) -> None:
    """Raise UsageError if other machines can reach the host, and there is no token."""
    if not token and not is_loopback(f"http://[{host}]" if ":" in host else f"http://{host}"):
        what = f"--host {host} can be reached from other machines, and there is no token"
        raise UsageError(what, f"set {variable}, or give --token NAME:SECRET")


def run_server(app: "Starlette", questions: "QuestionQueue", listening_socket: socket.socket, notices: Iterable[str]) -> None:
    """Serve until a signal, and print the notices once clients can connect; questions still running are stopped."""
    from ramify.serve.transport import WebServer

    server = WebServer(app, questions)
    listening_socket.listen()  # clients can connect once the address is printed
    for line in notices:
        note(line)
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises the signals again that it has handled
    with listening_socket, suppress(KeyboardInterrupt):
        server.run([listening_socket])


def _is_installed(module: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(module) is not None
    return False


def _prepare_watched_folders(folders: list[Path], indexes: list[str]) -> "list[WatchedFolder]":
    """Return the watched folders with their indexes; a folder without an index is indexed first."""
    if not folders:
        return []
    from ramify.serve.collections import create_watched_folders
    from ramify.studio.console.progress_bar import progress_bar

    if find_spec("watchfiles") is None:
        raise RamifyError("the library that watches files is not installed", "run `pip install 'ramify-rag[watch]'`")
    for folder in folders:
        _check_folder("--watch", folder)
    watched_folders = create_watched_folders([folder.expanduser() for folder in folders], indexes, _data_folder() / "watched")
    for watched_folder in watched_folders:
        with progress_bar() as progress:
            watched_folder.build_if_missing(progress)
    return watched_folders


def _check_folder(option: str, folder: Path) -> None:
    if not folder.expanduser().is_dir():
        raise UsageError(f"{option} {str(folder)!r} is not a folder", "give an existing folder")


def _open_catalog(places: list[str], models: list[str], strategy: str, options: dict[str, Any], rerank: list[str]) -> "Catalog":
    """Open the indexes and models to serve, so that errors occur now, not at the first question."""
    from ramify.graphs.strategies import configure
    from ramify.serve.catalog import Catalog, name_collections
    from ramify.studio.server.bounds import set_allowed
    from ramify.tools.index.index_store import is_searchable
    from ramify.tools.models.gguf import GGUF, check_adapter, find_gguf
    from ramify.tools.models.gguf_adapter import AUTO, find_adapter, is_path
    from ramify.tools.server_address import single_address

    configure(strategy, options)
    files = [model.removeprefix(GGUF) for model in models if model.startswith(GGUF)]
    if is_path(adapter := str(options.get("adapter", AUTO))):
        adapter = str(expand_path(adapter.strip()).absolute())
        options = {**options, "adapter": adapter}
    for model in models:
        check_adapter(adapter, model)
    for file in files:
        find_adapter(adapter, file, find_gguf(file)[1].architecture)
    adapters = [Path(adapter)] if is_path(adapter) else []
    operator_rerankers = [value for name in ("rerank", "check") if isinstance(value := options.get(name), str)]
    address = single_address(options.get("base_url"))
    base_urls = [str(address)] if address else []
    set_allowed(places, base_urls, [*map(Path, files), *adapters], [*rerank, *operator_rerankers], options.get("profile"))
    catalog = Catalog(name_collections(places), strategy, models, options)
    problems = []
    for collection in catalog.collections.values():
        catalog.request_options(strategy, catalog.selection(collection.name))
        try:
            collection.manifest()
        except IndexingError as error:
            if not is_searchable(Path(collection.where)):  # a wrong path, or a store that cannot be reached
                raise
            problems.append(error)
    if len(problems) == len(catalog.collections):
        raise problems[0]
    for problem in problems:
        note(f"a collection is damaged, the others are served: {problem}")
    return catalog


def _open_tests(given: list[str], catalog: "Catalog", strategy: str | None) -> "dict[str, CollectionTests]":
    """Return the tests by the name of their collection; UsageError if there is no such collection, or a file cannot be read."""
    if not given:
        return {}
    from ramify.serve.collection_tests import CollectionTests

    tests: dict[str, CollectionTests] = {}
    for value in given:
        name, separator, file = value.partition("=")
        if not separator or (name not in catalog.collections and Path(value).expanduser().is_file()):
            name, file = catalog.collection(None).name, value
        collection, path = catalog.collection(name), Path(file).expanduser()
        if collection.name in tests:
            raise UsageError(f"two files of tests are given for {collection.name!r}", "put their tests into one file")
        if any(path.resolve() == other.file.resolve() for other in tests.values()):
            raise UsageError(f"{file!r} is given for two collections", "copy it: the results of each are stored beside its file")
        options = {**catalog.options, "model": catalog.models[0], "index": collection.where}
        tests[collection.name] = CollectionTests(path, options, strategy)
    return tests


def _data_folder() -> Path:
    """Return the folder of the server in the user's cache."""
    from ramify.tools.new_files import cache_folder, make_folder

    folder = cache_folder().absolute() / "serve"
    make_folder(folder)
    return folder


COMMAND = Command(serve_command, "Serve and agents", ends_at_once=True)
