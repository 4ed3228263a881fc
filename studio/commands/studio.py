"""ramify studio: LangGraph's development server with every strategy, for LangGraph Studio."""

import os
import socket
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from ramify.studio.console.options import Profile, read_pairs
from ramify.studio.console.streams import note
from ramify.tools.errors import RamifyError
from ramify.tools.scrub import mask_address
from ramify.tools.user_input import expand_path

Port = Annotated[int, typer.Option(metavar="NUMBER", min=1, max=65535, help="Port of the server.")]
Host = Annotated[
    str,
    typer.Option(metavar="ADDRESS", help="Address of the server; other than 127.0.0.1, the whole network can use it."),
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="DIR", help="An index that runs may use, by folder or address; repeatable. The first is the default."),
]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option("--base-url", metavar="URL", help="A model server that runs may use as base_url; repeatable. [none]"),
]
ModelFiles = Annotated[
    list[Path] | None,
    typer.Option("--gguf", metavar="FILE", help="A file that runs may name as gguf:FILE or as adapter, by its full path; repeatable."),
]
Rerankers = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank", metavar="NAME", help="A cross-encoder or server that runs may name as rerank, a folder by full path; repeatable."
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="URL", help="Another origin whose pages may use the server; repeatable."),
]
Limits = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A limit that runs cannot raise, such as max_calls=20; repeatable. [none]"),
]

PRIVACY_VARIABLES = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
"""No usage statistics, no update check."""
REPORTING_KEYS = ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "LANGSMITH_CONTROL_PLANE_API_KEY", "LANGGRAPH_CLOUD_LICENSE_KEY")
"""With one of these the server would report the number of runs, even without tracing."""
MAX_CONCURRENT_RUNS = 16


def studio_command(
    port: Port = 2024,
    host: Host = "127.0.0.1",
    index: Indexes = None,
    base_url: BaseUrls = None,
    gguf: ModelFiles = None,
    rerank: Rerankers = None,
    profile: Profile = None,
    limits: Limits = None,
    allow_origin: Origins = None,
) -> None:
    """Start the server for LangGraph Studio: run, inspect, edit and resume every strategy as a graph; Ctrl-C stops it."""
    if find_spec("langgraph_cli") is None or find_spec("langgraph_api") is None:
        raise RamifyError("the development server of LangGraph is not installed", "run `pip install 'ramify-rag[studio]'`")
    from ramify.studio.server.guard import host_and_port, parse_origin
    from ramify.studio.server.langgraph_json import ENVIRONMENT, configuration_text

    origins = [*map(parse_origin, allow_origin or []), f"http://{host_and_port(host, port)}"]
    bind_socket(host, port).close()
    os.environ.update({**ENVIRONMENT, **PRIVACY_VARIABLES})
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    for key in REPORTING_KEYS:
        os.environ.pop(key, None)
    from ramify.studio.server.bounds import set_limits  # it imports LangGraph, which reads the environment then

    set_limits(read_pairs(limits or [], "--set"))
    _allow_resources(index or [], base_url or [], gguf or [], rerank or [], profile)
    assistants = _create_assistants(index or [])
    folder_path = _working_folder(port)
    note(f"threads are stored in {folder_path}; Ctrl-C stops the server")
    with TemporaryDirectory() as folder:
        config = Path(folder, "langgraph.json")
        config.write_text(configuration_text(origins, assistants), encoding="utf-8")
        os.chdir(folder_path)
        _serve(config, host, port)
    note("the server has stopped; its threads are stored")


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to the address, not listening yet; raise RamifyError if the address is in use.

    LangGraph would silently choose another port.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound_socket = socket.socket(family, kind, protocol)
        try:
            bound_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound_socket.bind(address)
        except OSError:
            bound_socket.close()
            raise
    except OSError as error:
        what = f"cannot listen at {host}:{port} ({error.strerror or error})"
        raise RamifyError(what, "stop the program that uses it, or choose another with --port or --host") from None
    return bound_socket


def _allow_resources(indexes: list[str], base_urls: list[str], model_files: list[Path], rerank: list[str], profile: str | None) -> None:
    """Set and print what runs may name."""
    from ramify.studio.server.bounds import allowed_indexes, allowed_model_files, allowed_rerankers, default_index, set_allowed
    from ramify.tools.index.index_store import store_at
    from ramify.tools.models.gguf import GGUF_NAME_FORMS, find_gguf
    from ramify.tools.models.gguf_header import load_header
    from ramify.tools.search.relevance import load_reranker

    places = {name: expand_path(name) for name in rerank}
    cross_encoders = [
        str(path.absolute()) if path.is_dir() else name for name, path in places.items()
    ]  # the server has another working folder
    for where in indexes:
        store_at(where).open()  # an error now, not at the first run
    for file in model_files:
        if load_header(expand_path(file), str(file), GGUF_NAME_FORMS).kind != "adapter":
            find_gguf(str(file))
    for name in cross_encoders:
        load_reranker(name)
    set_allowed(indexes, base_urls, model_files, cross_encoders, profile)
    servers = (
        ", ".join(map(mask_address, base_urls)) or "none; model servers are configured by environment variables (add one with --base-url)"
    )
    note(f"a run may name as its index: {', '.join(('demo', *sorted(map(mask_address, allowed_indexes()))))} (add one with --index)")
    note(f"a run that names no index searches {mask_address(default_index())}")
    note(f"a run may name as its base_url: {servers}")
    note(f"a run may name as its model file: {', '.join(f'gguf:{file}' for file in sorted(allowed_model_files()))} (add one with --gguf)")
    note(f"a run may name as its rerank: {', '.join(sorted(map(mask_address, allowed_rerankers())))} (add one with --rerank)")


def _create_assistants(indexes: list[str]) -> dict[str, str]:
    """Create an assistant for each index; return the descriptions of the indexes by the assistants' names.

    The first is the default agent for A2A clients.
    """
    from ramify.graphs.strategies import DEFAULT, load_strategies
    from ramify.graphs.tool import describe_index
    from ramify.studio.server.bounds import set_assistant_indexes
    from ramify.studio.server.langgraph_json import assistant_id

    assistants = {name: describe_index(where) for name, where in set_assistant_indexes(indexes, load_strategies()).items()}
    os.environ.setdefault("DEFAULT_A2A_ASSISTANT_ID", assistant_id(next(iter(assistants), DEFAULT)))
    if assistants:
        note(f"assistants of the indexes, also for A2A: {', '.join(assistants)}")
    return assistants


def _working_folder(port: int) -> Path:
    """Return the server's working folder, one per port."""
    # It stores threads as pickles: in the current folder it could load those of somebody else.
    from ramify.tools.new_files import cache_folder, make_folder

    cache = cache_folder().absolute()
    os.environ["RAMIFY_CACHE"] = str(cache)  # must not depend on the server's working folder
    folder_path = cache / "studio" / str(port)
    make_folder(folder_path)
    return folder_path


def _serve(config: Path, host: str, port: int) -> None:
    """Run `langgraph dev` in this process until it is stopped."""
    from click.exceptions import Abort
    from langgraph_cli.cli import cli
    from uvicorn.config import HTTP_PROTOCOLS

    from ramify.studio.server.guard import LimitedProtocol

    # LangGraph starts uvicorn without a protocol class: uvicorn then uses this one.
    HTTP_PROTOCOLS["auto"] = f"{LimitedProtocol.__module__}:{LimitedProtocol.__qualname__}"
    options = ["--config", str(config), "--host", host, "--port", str(port), "--n-jobs-per-worker", str(MAX_CONCURRENT_RUNS)]
    with suppress(Abort, KeyboardInterrupt):
        cli.main(["dev", *options, "--no-browser", "--no-reload"], prog_name="ramify studio", standalone_mode=False)
