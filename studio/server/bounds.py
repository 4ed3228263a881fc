"""What a run on the development server may name: the indexes, model servers, model files and rerankers that its operator gave, no others.

Otherwise whoever reaches the server could read any index of this machine, and have its keys sent to an address of theirs.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, create_model, model_validator

from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import Settings
from ramify.tools.errors import UsageError
from ramify.tools.index.location import is_address
from ramify.tools.models.gguf import GGUF
from ramify.tools.models.shipped import SHIPPED
from ramify.tools.relevance import NONE, READER
from ramify.tools.scrub import shown
from ramify.tools.server_address import addresses, without_credentials

S = TypeVar("S", bound=Settings)

INDEXES = "RAMIFY_STUDIO_INDEXES"
"""The variable with the folders, divided as in PATH."""
STORES = "RAMIFY_STUDIO_STORES"
"""The variable with the addresses of indexes that lie in no folder, divided by spaces."""
DEFAULT_INDEX = "RAMIFY_STUDIO_DEFAULT_INDEX"
"""The variable with the index of a run that names none."""
BASE_URLS = "RAMIFY_STUDIO_BASE_URLS"
"""The variable with the addresses, divided by spaces."""
MODEL_FILES = "RAMIFY_STUDIO_GGUF"
"""The variable with the model files, divided as in PATH."""
RERANKERS = "RAMIFY_STUDIO_RERANKERS"
"""The variable with the cross-encoders, divided as in PATH."""
DEMO = "demo"


def bounded(wiring: Wiring[S]) -> Wiring[S]:
    """Let a wiring's runs name only what the operator gave; it is changed. However settings come to a run, they are read by its class.

    A run that names no index gets the operator's first: its class says so, so this holds for each assistant, at MCP and A2A, too.
    """
    kind, default = wiring.settings, default_index()
    field = kind.model_fields["index"]
    secret = is_address(default) and shown(default) != default  # the forms show a default, and not what makes one
    given: dict[str, Any] = {"default_factory": lambda: default} if secret else {"default": default}
    fields: dict[str, Any] = {"index": (field.annotation, Field(description=field.description, **given))}
    validators: dict[str, Any] = {"_is_allowed": model_validator(mode="after")(_allowed)}
    made: dict[str, Any] = {"__doc__": kind.__doc__, "__module__": kind.__module__, "__validators__": validators}
    narrower = create_model(kind.__name__, __base__=kind, **made, **fields)
    wiring.settings = narrower
    return wiring


def _allowed(settings: S) -> S:
    index, url, model = settings.index, settings.base_url, settings.model
    if isinstance(index, str) and index != DEMO and _plain(index) not in indexes():
        raise UsageError(f"index={index!r} is not open to this server's runs", f"start it with `ramify studio --index {index}`")
    servers = {_plain(one) for one in addresses(os.environ.get(BASE_URLS))}
    if url and (others := [one for one in addresses(url) or (url,) if _plain(one) not in servers]):
        url = without_credentials(others[0])
        raise UsageError(f"base_url={url!r} is not open to this server's runs", f"start it with `ramify studio --base-url {url}`")
    if isinstance(model, str) and model.strip().startswith(GGUF) and (file := model.strip().removeprefix(GGUF)) not in files():
        raise UsageError(f"model={model!r} is not open to this server's runs", f"start it with `ramify studio --gguf {file}`")
    if (rerank := settings.rerank) not in rerankers():
        raise UsageError(f"rerank={rerank!r} is not open to this server's runs", f"start it with `ramify studio --rerank {rerank}`")
    return settings


def indexes() -> set[str]:
    """List the indexes that a run may name: full paths and addresses, which are compared as text, so that no link leads elsewhere."""
    return {*_named(INDEXES, os.pathsep), *map(_plain, _named(STORES, None))}


def default_index() -> str:
    """Name the index of a run that names none: the first that the operator gave, else the demo."""
    return next(filter(None, (os.environ.get(DEFAULT_INDEX), *_named(INDEXES, os.pathsep), *_named(STORES, None))), DEMO)


def files() -> set[str]:
    """List the model files that a run may name, besides the models that come as a package."""
    return {*SHIPPED, *_named(MODEL_FILES, os.pathsep)}


def rerankers() -> set[str]:
    """List the rerankers that a run may name."""
    return {READER, NONE, *_named(RERANKERS, os.pathsep)}


def declare(indexes: Sequence[str | Path], base_urls: list[str], model_files: list[Path], cross_encoders: Sequence[str] = ()) -> None:
    """Tell the server that is started in this process what its runs may name; a folder by the path it was given, and where that leads."""
    os.environ[INDEXES] = os.pathsep.join(_paths([Path(one) for one in indexes if not is_address(one)]))
    os.environ[STORES] = " ".join(str(one) for one in indexes if is_address(one))
    first = indexes[0] if indexes else ""
    os.environ[DEFAULT_INDEX] = str(first) if not first or is_address(first) else os.path.abspath(first)
    os.environ[MODEL_FILES] = os.pathsep.join(_paths(model_files))
    os.environ[BASE_URLS] = " ".join(base_urls)
    os.environ[RERANKERS] = os.pathsep.join(cross_encoders)


def _paths(given: list[Path]) -> list[str]:
    return list(dict.fromkeys(str(path) for one in given for path in (Path(os.path.abspath(one)), one.resolve())))


def _named(variable: str, divider: str | None) -> list[str]:
    return list(filter(None, os.environ.get(variable, "").split(divider)))


def _plain(name: str) -> str:
    return name.strip().rstrip("/")
