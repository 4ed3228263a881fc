"""Restrict runs on a server to the indexes, model servers, model files, rerankers and the profile that its operator allows.

Otherwise any client could read every index of this machine, and have API keys sent to its own address. The allowed names are passed in
environment variables, because LangGraph's server imports the graphs in its own way.
"""

import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, create_model, model_validator

from ramify.graphs.strategies import build, load_strategies
from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import Settings
from ramify.tools.errors import UsageError
from ramify.tools.index.index_store import is_store_address
from ramify.tools.models.gguf import GGUF
from ramify.tools.models.gguf_adapter import is_path
from ramify.tools.reader import READER
from ramify.tools.released import SMOLLM2
from ramify.tools.scrub import mask_address
from ramify.tools.search.relevance import MODEL, NO_RERANKER, is_address
from ramify.tools.search.searcher import as_collections
from ramify.tools.server_address import split_addresses

S = TypeVar("S", bound=Settings)

INDEX_FOLDERS_VARIABLE = "RAMIFY_STUDIO_INDEXES"
"""Environment variable: folders of the allowed indexes, separated as in PATH."""
INDEX_ADDRESSES_VARIABLE = "RAMIFY_STUDIO_STORES"
"""Environment variable: addresses of the allowed indexes that are not folders, separated by spaces."""
DEFAULT_INDEX_VARIABLE = "RAMIFY_STUDIO_DEFAULT_INDEX"
"""Environment variable: the index of runs that name none."""
BASE_URLS_VARIABLE = "RAMIFY_STUDIO_BASE_URLS"
"""Environment variable: addresses of the allowed model servers, separated by spaces."""
MODEL_FILES_VARIABLE = "RAMIFY_STUDIO_GGUF"
"""Environment variable: the allowed files of models and adapters, separated as in PATH."""
PROFILE_VARIABLE = "RAMIFY_STUDIO_PROFILE"
"""Environment variable: full path of the profile of every run."""
RERANKERS_VARIABLE = "RAMIFY_STUDIO_RERANKERS"
"""Environment variable: the allowed cross-encoders, separated as in PATH."""
RERANK_ADDRESSES_VARIABLE = "RAMIFY_STUDIO_RERANK_URLS"
"""Environment variable: addresses of the allowed reranking servers, each with its model, separated by spaces."""
ASSISTANTS_VARIABLE = "RAMIFY_STUDIO_ASSISTANTS"
"""Environment variable: the indexes of the assistants by the assistants' names, as JSON."""
LIMITS_VARIABLE = "RAMIFY_STUDIO_LIMITS"
"""Environment variable: the limits that a run cannot raise, as JSON."""
DEMO = "demo"
LIMITS = (
    *("max_calls", "max_tokens", "max_seconds", "max_concurrency", "max_depth", "max_batches"),
    *("timeout", "num_ctx", "num_predict", "context_tokens", "passage_tokens", "batch_tokens", "passage_chars"),
    *("k", "fetch_k", "final_k", "rerank_k", "top_k", "batch", "rounds", "final_facts", "shots", "redecompositions"),
)
"""Settings that bound the cost of a question: where the operator of a server sets one, a request cannot raise it."""


def restrict_settings(wiring: Wiring[S], index: str | None = None) -> Wiring[S]:
    """Restrict the settings class of a wiring to the allowed names, in place, and return the wiring.

    The default index is `index`, else the first one that the operator allowed; this also applies to assistants, MCP and A2A.
    """
    base, default = wiring.settings, index or default_index()
    field = base.model_fields["index"]
    secret = is_store_address(default) and mask_address(default) != default  # Studio's forms show a default, but not a default factory
    index_default: dict[str, Any] = {"default_factory": lambda: default} if secret else {"default": default}
    fields: dict[str, Any] = {"index": (field.annotation, Field(description=field.description, **index_default))}
    if profile := os.environ.get(PROFILE_VARIABLE):
        profile_field = base.model_fields["profile"]
        fields["profile"] = (profile_field.annotation, Field(default=profile, description=profile_field.description))
    limits: dict[str, Any] = json.loads(os.environ.get(LIMITS_VARIABLE) or "{}")
    for name in [name for name, bound in limits.items() if bound is not None and name in base.model_fields]:
        known, bound = base.model_fields[name], limits[name]
        kind: Any = Annotated.__class_getitem__((known.annotation, *known.metadata, AfterValidator(partial(_smaller, bound))))  # type: ignore[attr-defined]
        fields[name] = (kind, Field(default=_smaller(bound, known.default), description=known.description))
    validators: dict[str, Any] = {"_is_allowed": model_validator(mode="after")(_check_settings)}
    class_fields: dict[str, Any] = {"__doc__": base.__doc__, "__module__": base.__module__, "__validators__": validators}
    wiring.settings = create_model(base.__name__, __base__=base, **class_fields, **fields)
    return wiring


def _check_settings(settings: S) -> S:
    check_allowed(settings)
    return settings


def check_allowed(settings: Settings, command: str = "ramify studio") -> None:
    """Raise UsageError for settings that name something not allowed by the options of the server's `command`."""
    index, url, model = settings.index, settings.base_url, settings.model

    def not_allowed(setting: str, option: str) -> UsageError:
        return UsageError(f"{setting} is not allowed for runs of this server", f"start it with `{command} {option}`")

    group = as_collections(index)
    for item in group.members if group else (index,):
        if isinstance(item, str) and item != DEMO and _without_slash(item) not in allowed_indexes():
            raise not_allowed(f"index={item!r}", f"--index {item}")
    servers = {_without_slash(item) for item in split_addresses(os.environ.get(BASE_URLS_VARIABLE))}
    if url and _without_slash(url) not in servers:
        url = mask_address(url)
        raise not_allowed(f"base_url={url!r}", f"--base-url {url}")
    if (
        isinstance(model, str)
        and model.strip().startswith(GGUF)
        and (file := model.strip().removeprefix(GGUF)) not in allowed_model_files()
    ):
        raise not_allowed(f"model={model!r}", f"--gguf {file}")
    if is_path(settings.adapter) and settings.adapter not in _split_variable(MODEL_FILES_VARIABLE, os.pathsep):
        raise not_allowed(f"adapter={settings.adapter!r}", f"--gguf {settings.adapter}")
    if settings.profile is not None and settings.profile != os.environ.get(PROFILE_VARIABLE):
        raise not_allowed(f"profile={str(settings.profile)!r}", "--profile FILE")
    for name, chosen, known in (("rerank", settings.rerank, allowed_rerankers()), ("check", settings.check, {MODEL, *allowed_rerankers()})):
        if chosen not in known:
            chosen = mask_address(chosen) if is_address(chosen) else chosen
            raise not_allowed(f"{name}={chosen!r}", f"--rerank {chosen}")


def cap_limits(requested: Settings, operator: Settings, names: Collection[str]) -> dict[str, Any]:
    """Return those limits of `names` that are smaller in the operator's settings than in the requested ones, with that value."""
    pairs = {name: (getattr(requested, name, None), getattr(operator, name, None)) for name in LIMITS if name in names}
    return {name: bound for name, (value, bound) in pairs.items() if _smaller(bound, value) != value}


def _smaller(bound: Any, value: Any) -> Any:
    """Return the smaller of two limits; None is no limit."""
    return value if bound is None or (value is not None and value <= bound) else bound


def set_limits(limits: Mapping[str, Any]) -> None:
    """Set the limits that runs of the server in this process cannot raise; raise UsageError for another setting or an invalid value."""
    classes = [build(name).settings for name in load_strategies()]
    for name, value in limits.items():
        with_limit = [settings for settings in classes if name in LIMITS and name in settings.model_fields]
        if not with_limit:
            raise UsageError(f"{name!r} is not a limit", f"choose of {', '.join(LIMITS)}")
        for settings in with_limit:
            settings.model_validate({name: value})
    os.environ[LIMITS_VARIABLE] = json.dumps(dict(limits))


def allowed_indexes() -> set[str]:
    """Return the indexes that a run may name: full paths and addresses, compared as text, so that links are not followed."""
    return {*_split_variable(INDEX_FOLDERS_VARIABLE, os.pathsep), *map(_without_slash, _split_variable(INDEX_ADDRESSES_VARIABLE, None))}


def default_index() -> str:
    """Return the default index: the first allowed one, else the demo."""
    return next(
        filter(
            None,
            (
                os.environ.get(DEFAULT_INDEX_VARIABLE),
                *_split_variable(INDEX_FOLDERS_VARIABLE, os.pathsep),
                *_split_variable(INDEX_ADDRESSES_VARIABLE, None),
            ),
        ),
        DEMO,
    )


def allowed_model_files() -> set[str]:
    """Return the model files that a run may name, including SmolLM2 from its package."""
    return {SMOLLM2.model, *_split_variable(MODEL_FILES_VARIABLE, os.pathsep)}


def allowed_rerankers() -> set[str]:
    """Return the rerankers that a run may name."""
    return {READER, NO_RERANKER, *_split_variable(RERANKERS_VARIABLE, os.pathsep), *_split_variable(RERANK_ADDRESSES_VARIABLE, None)}


def unique_index_names(indexes: Sequence[str], used: Collection[str] = ()) -> list[str]:
    """Return a name for each index: the last part of its folder or address, numbered if it is in use."""
    names: list[str] = []
    for index in indexes:
        last = re.split(r"[/\\]", index.rstrip("/\\"))[-1] if is_store_address(index) else Path(index).absolute().name
        base = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "index"
        numbered = (f"{base}-{number}" if number > 1 else base for number in range(1, len(indexes) + len(used) + 2))
        names.append(next(name for name in numbered if name not in {*used, *names}))
    return names


def set_allowed(
    indexes: Sequence[str | Path],
    base_urls: list[str],
    model_files: list[Path],
    rerankers: Sequence[str] = (),
    profile: str | None = None,
) -> None:
    """Set what runs of the server in this process may name; folders are allowed by their given and their resolved path."""
    os.environ[INDEX_FOLDERS_VARIABLE] = os.pathsep.join(_path_spellings([Path(place) for place in indexes if not is_store_address(place)]))
    os.environ[INDEX_ADDRESSES_VARIABLE] = " ".join(str(place) for place in indexes if is_store_address(place))
    first = indexes[0] if indexes else ""
    os.environ[DEFAULT_INDEX_VARIABLE] = str(first) if not first or is_store_address(first) else os.path.abspath(first)
    os.environ[MODEL_FILES_VARIABLE] = os.pathsep.join(_path_spellings(model_files))
    os.environ[BASE_URLS_VARIABLE] = " ".join(base_urls)
    os.environ[RERANKERS_VARIABLE] = os.pathsep.join(name for name in rerankers if not is_address(name))
    os.environ[RERANK_ADDRESSES_VARIABLE] = " ".join(name.strip() for name in rerankers if is_address(name))
    os.environ[PROFILE_VARIABLE] = profile or ""


def set_assistant_indexes(indexes: Sequence[str], used: Collection[str]) -> Mapping[str, str]:
    """Define an assistant for each index on the server in this process; return the indexes by the assistants' names."""
    places = [place if is_store_address(place) else os.path.abspath(place) for place in indexes]
    by_name = dict(zip(unique_index_names(places, used), places, strict=True))
    os.environ[ASSISTANTS_VARIABLE] = json.dumps(by_name)
    return by_name


def assistant_indexes() -> Mapping[str, str]:
    """Return the indexes of the assistants by the assistants' names."""
    by_name: dict[str, str] = json.loads(os.environ.get(ASSISTANTS_VARIABLE) or "{}")
    return by_name


def allow_index(index: Path) -> None:
    """Allow one more index, built by the server in this process."""
    os.environ[INDEX_FOLDERS_VARIABLE] = os.pathsep.join(
        dict.fromkeys((*_split_variable(INDEX_FOLDERS_VARIABLE, os.pathsep), *_path_spellings([index])))
    )


def _path_spellings(paths: list[Path]) -> list[str]:
    return list(dict.fromkeys(str(path) for folder in paths for path in (Path(os.path.abspath(folder)), folder.resolve())))


def _split_variable(variable: str, separator: str | None) -> list[str]:
    return list(filter(None, os.environ.get(variable, "").split(separator)))


def _without_slash(name: str) -> str:
    return name.strip().rstrip("/")
