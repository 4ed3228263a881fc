"""Restrict runs on the development server to the indexes, model servers, model files and rerankers given by its operator.

Otherwise any client could read every index of this machine, and have API keys sent to its own address.
"""

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, create_model, model_validator

from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import Settings
from ramify.tools.errors import UsageError
from ramify.tools.index.index_store import is_address
from ramify.tools.index.searcher import collections_of
from ramify.tools.models.gguf import GGUF, SMOLLM2
from ramify.tools.relevance import MODEL, NONE, READER
from ramify.tools.scrub import mask_address
from ramify.tools.server_address import split_addresses, without_credentials

S = TypeVar("S", bound=Settings)

INDEXES = "RAMIFY_STUDIO_INDEXES"
"""The variable with the folders, separated as in PATH."""
STORES = "RAMIFY_STUDIO_STORES"
"""The variable with the addresses of indexes that lie in no folder, separated by spaces."""
DEFAULT_INDEX = "RAMIFY_STUDIO_DEFAULT_INDEX"
"""The variable with the index of a run that names none."""
BASE_URLS = "RAMIFY_STUDIO_BASE_URLS"
"""The variable with the addresses, separated by spaces."""
MODEL_FILES = "RAMIFY_STUDIO_GGUF"
"""The variable with the model files, separated as in PATH."""
PROFILE = "RAMIFY_STUDIO_PROFILE"
"""The variable with the profile of every run, by its full path."""
RERANKERS = "RAMIFY_STUDIO_RERANKERS"
"""The variable with the cross-encoders, separated as in PATH."""
ASSISTANTS = "RAMIFY_STUDIO_ASSISTANTS"
"""The variable with the indexes, by the names of their assistants, as JSON."""
DEMO = "demo"


def bounded(wiring: Wiring[S], index: str | None = None) -> Wiring[S]:
    """Restrict the settings class of a wiring, in place, to what the operator gave.

    The default index, also for assistants, MCP and A2A, is the operator's first where none is given.
    """
    kind, default = wiring.settings, index or default_index()
    field = kind.model_fields["index"]
    secret = is_address(default) and mask_address(default) != default  # the forms show a default, and not what makes one
    given: dict[str, Any] = {"default_factory": lambda: default} if secret else {"default": default}
    fields: dict[str, Any] = {"index": (field.annotation, Field(description=field.description, **given))}
    if profile := os.environ.get(PROFILE):
        own = kind.model_fields["profile"]
        fields["profile"] = (own.annotation, Field(default=profile, description=own.description))
    validators: dict[str, Any] = {"_is_allowed": model_validator(mode="after")(_allowed)}
    made: dict[str, Any] = {"__doc__": kind.__doc__, "__module__": kind.__module__, "__validators__": validators}
    wiring.settings = create_model(kind.__name__, __base__=kind, **made, **fields)
    return wiring


def _allowed(settings: S) -> S:
    check_allowed(settings)
    return settings


def check_allowed(settings: Settings, command: str = "ramify studio") -> None:
    """Raise UsageError for settings that name what the operator did not give to the command."""
    index, url, model = settings.index, settings.base_url, settings.model

    def refused(setting: str, option: str) -> UsageError:
        return UsageError(f"{setting} is not allowed for runs of this server", f"start it with `{command} {option}`")

    several = collections_of(index)
    for one in several.members if several else (index,):
        if isinstance(one, str) and one != DEMO and _plain(one) not in indexes():
            raise refused(f"index={one!r}", f"--index {one}")
    servers = {_plain(one) for one in split_addresses(os.environ.get(BASE_URLS))}
    if url and (others := [one for one in split_addresses(url) or (url,) if _plain(one) not in servers]):
        url = without_credentials(others[0])
        raise refused(f"base_url={url!r}", f"--base-url {url}")
    if isinstance(model, str) and model.strip().startswith(GGUF) and (file := model.strip().removeprefix(GGUF)) not in files():
        raise refused(f"model={model!r}", f"--gguf {file}")
    if settings.profile is not None and settings.profile != os.environ.get(PROFILE):
        raise refused(f"profile={str(settings.profile)!r}", "--profile FILE")
    for name, chosen, known in (("rerank", settings.rerank, rerankers()), ("check", settings.check, {MODEL, *rerankers()})):
        if chosen not in known:
            raise refused(f"{name}={chosen!r}", f"--rerank {chosen}")


def indexes() -> set[str]:
    """List the indexes that a run may name: full paths and addresses, compared as text, so that links are not followed."""
    return {*_named(INDEXES, os.pathsep), *map(_plain, _named(STORES, None))}


def default_index() -> str:
    """Return the default index: the operator's first, else the demo."""
    return next(filter(None, (os.environ.get(DEFAULT_INDEX), *_named(INDEXES, os.pathsep), *_named(STORES, None))), DEMO)


def files() -> set[str]:
    """List the model files that a run may name, with the models that come as a package."""
    return {SMOLLM2.model, *_named(MODEL_FILES, os.pathsep)}


def rerankers() -> set[str]:
    """List the rerankers that a run may name."""
    return {READER, NONE, *_named(RERANKERS, os.pathsep)}


def names_of(indexes: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """Name indexes by the last part of their folders or addresses, numbered where it is taken."""
    names: list[str] = []
    for where in indexes:
        last = re.split(r"[/\\]", where.rstrip("/\\"))[-1] if is_address(where) else Path(where).absolute().name
        base = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "index"
        numbered = (f"{base}-{number}" if number > 1 else base for number in range(1, len(indexes) + len(taken) + 2))
        names.append(next(name for name in numbered if name not in {*taken, *names}))
    return names


def declare(
    indexes: Sequence[str | Path],
    base_urls: list[str],
    model_files: list[Path],
    cross_encoders: Sequence[str] = (),
    profile: str | None = None,
) -> None:
    """Set what runs of the server in this process may name; folders by the given and the resolved path."""
    os.environ[INDEXES] = os.pathsep.join(_paths([Path(one) for one in indexes if not is_address(one)]))
    os.environ[STORES] = " ".join(str(one) for one in indexes if is_address(one))
    first = indexes[0] if indexes else ""
    os.environ[DEFAULT_INDEX] = str(first) if not first or is_address(first) else os.path.abspath(first)
    os.environ[MODEL_FILES] = os.pathsep.join(_paths(model_files))
    os.environ[BASE_URLS] = " ".join(base_urls)
    os.environ[RERANKERS] = os.pathsep.join(cross_encoders)
    os.environ[PROFILE] = profile or ""


def bind(indexes: Sequence[str], taken: Collection[str]) -> Mapping[str, str]:
    """Set the indexes of the assistants of the server in this process, and return them by the assistants' names."""
    places = [one if is_address(one) else os.path.abspath(one) for one in indexes]
    made = dict(zip(names_of(places, taken), places, strict=True))
    os.environ[ASSISTANTS] = json.dumps(made)
    return made


def bound() -> Mapping[str, str]:
    """Return the indexes of the assistants by their names."""
    found: dict[str, str] = json.loads(os.environ.get(ASSISTANTS) or "{}")
    return found


def allow(index: Path) -> None:
    """Let runs name one more index, which the server in this process has made."""
    os.environ[INDEXES] = os.pathsep.join(dict.fromkeys((*_named(INDEXES, os.pathsep), *_paths([index]))))


def _paths(given: list[Path]) -> list[str]:
    return list(dict.fromkeys(str(path) for one in given for path in (Path(os.path.abspath(one)), one.resolve())))


def _named(variable: str, divider: str | None) -> list[str]:
    return list(filter(None, os.environ.get(variable, "").split(divider)))


def _plain(name: str) -> str:
    return name.strip().rstrip("/")
