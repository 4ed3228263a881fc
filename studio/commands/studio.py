"""ramify studio: LangGraph's development server with every strategy, for LangGraph Studio."""

import os
import socket
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ramify.studio.console.options import Profile
from ramify.studio.console.streams import note
from ramify.tools.errors import RamifyError
from ramify.tools.scrub import mask_address
from ramify.tools.user_input import expand_path

Port = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=65535, help="Port of the server.")]
Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address of the server; other than 127.0.0.1, everybody in the network can use it.")
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="DIR", help="An index that runs may name, by folder or address; repeatable. The first is the default."),
]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option("--base-url", metavar="URL", help="A model server that runs may name as base_url; repeatable. [none]"),
]
ModelFiles = Annotated[
    list[Path] | None,
    typer.Option("--gguf", metavar="FILE", help="A model file that runs may name as gguf:FILE, by its full path; repeatable."),
]
Rerankers = Annotated[
    list[str] | None,
    typer.Option("--rerank", metavar="NAME", help="A cross-encoder that runs may name as rerank, a folder by its full path; repeatable."),
]
Origins = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="URL", help="Another origin whose pages may use the server; repeatable."),
]

QUIET = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
"""No usage statistics, no update check."""
KEYS = ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "LANGSMITH_CONTROL_PLANE_API_KEY", "LANGGRAPH_CLOUD_LICENSE_KEY")
"""With one of these the server would report the number of runs, even without tracing."""
AT_ONCE = 16


def studio(
    port: Port = 2024,
    host: Host = "127.0.0.1",
    index: Indexes = None,
    base_url: BaseUrls = None,
    gguf: ModelFiles = None,
    rerank: Rerankers = None,
    profile: Profile = None,
    allow_origin: Origins = None,
) -> None:
    """Start the server for LangGraph Studio: run, inspect, edit and resume every strategy as a graph; Ctrl-C stops it."""
    if find_spec("langgraph_cli") is None or find_spec("langgraph_api") is None:
        raise RamifyError("the development server of LangGraph is not installed", "run `pip install 'ramify-rag[studio]'`")
    from ramify.studio.server.guard import origin_of, place
    from ramify.studio.server.langgraph_json import ENVIRONMENT, written

    origins = [*map(origin_of, allow_origin or []), f"http://{place(host, port)}"]
    claim(host, port).close()
    os.environ.update({**ENVIRONMENT, **QUIET})
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    for key in KEYS:
        os.environ.pop(key, None)
    _open(index or [], base_url or [], gguf or [], rerank or [], profile)
    bound = _bind(index or [])
    home = _home(port)
    note(f"threads are stored in {home}; Ctrl-C stops the server")
    with TemporaryDirectory() as folder:
        config = Path(folder, "langgraph.json")
        config.write_text(written(origins, bound), encoding="utf-8")
        os.chdir(home)
        _serve(config, host, port)
    note("the server has stopped; its threads are stored")


def claim(host: str, port: int) -> socket.socket:
    """Return a socket that has the address, not listening yet; RamifyError where something else has it.

    LangGraph would silently choose another.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        claimed = socket.socket(family, kind, protocol)
        try:
            claimed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            claimed.bind(address)
        except OSError:
            claimed.close()
            raise
    except OSError as error:
        what = f"nothing can listen at {host}:{port} ({error.strerror or error})"
        raise RamifyError(what, "stop the program that uses it, or choose another with --port or --host") from None
    return claimed


def _open(given: list[str], base_urls: list[str], model_files: list[Path], rerank: list[str], profile: str | None) -> None:
    """Define and print what runs may name."""
    from ramify.studio.server.bounds import declare, default_index, files, indexes, rerankers
    from ramify.tools.index.index_store import store_at
    from ramify.tools.models.gguf import find_gguf
    from ramify.tools.relevance import load

    places = {name: expand_path(name) for name in rerank}
    cross_encoders = [str(place.absolute()) if place.is_dir() else name for name, place in places.items()]  # the server works elsewhere
    for where in given:
        store_at(where).open()  # an error now and not at the first run
    for file in model_files:
        find_gguf(str(file))
    for name in cross_encoders:
        load(name)
    declare(given, base_urls, model_files, cross_encoders, profile)
    servers = ", ".join(map(mask_address, base_urls)) or "none, the environment says where models are (add one with --base-url)"
    note(f"a run may name as its index: {', '.join(('demo', *sorted(map(mask_address, indexes()))))} (add one with --index)")
    note(f"a run that names no index searches {mask_address(default_index())}")
    note(f"a run may name as its base_url: {servers}")
    note(f"a run may name as its model file: {', '.join(f'gguf:{file}' for file in sorted(files()))} (add one with --gguf)")
    note(f"a run may name as its rerank: {', '.join(sorted(rerankers()))} (add one with --rerank)")


def _bind(given: list[str]) -> dict[str, str]:
    """Bind an assistant to each index; return what these are, by the assistants' names.

    The first is the agent whose card A2A's clients find at the address of the server.
    """
    from ramify.graphs.strategies import DEFAULT, STRATEGIES
    from ramify.graphs.tool import about_of
    from ramify.studio.server.bounds import bind
    from ramify.studio.server.langgraph_json import identity

    found = {name: about_of(where) for name, where in bind(given, STRATEGIES).items()}
    os.environ.setdefault("DEFAULT_A2A_ASSISTANT_ID", identity(next(iter(found), DEFAULT)))
    if found:
        note(f"assistants of their own, also for A2A: {', '.join(found)}")
    return found


def _home(port: int) -> Path:
    """Return the server's working folder, one per port."""
    # It keeps threads as pickles: in the folder it was called from it could meet, and load, somebody else's.
    from ramify.tools.new_files import cache_folder, make_folder

    cache = cache_folder().absolute()
    os.environ["RAMIFY_CACHE"] = str(cache)  # the server's own folder is another one
    home = cache / "studio" / str(port)
    make_folder(home)
    return home


def _serve(config: Path, host: str, port: int) -> None:
    """Run `langgraph dev` in this process until it is stopped."""
    from click.exceptions import Abort
    from langgraph_cli.cli import cli
    from uvicorn.config import HTTP_PROTOCOLS

    from ramify.studio.server.guard import LimitedProtocol

    # LangGraph starts uvicorn and names no protocol: then uvicorn takes the one that stands here.
    HTTP_PROTOCOLS["auto"] = f"{LimitedProtocol.__module__}:{LimitedProtocol.__qualname__}"
    options = ["--config", str(config), "--host", host, "--port", str(port), "--n-jobs-per-worker", str(AT_ONCE)]
    with suppress(Abort, KeyboardInterrupt):
        cli.main(["dev", *options, "--no-browser", "--no-reload"], prog_name="ramify studio", standalone_mode=False)
