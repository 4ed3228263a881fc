"""The kinds of index that a run can compare: their names, their folders, and the settings that only their own search has."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.router import RouteSearch
from ramify.tools.index.manifest import Kind
from ramify.tools.knowledge.index import WalkSearch

PLAIN: Kind = "passages"
HIERARCHY: Kind = "hierarchy"
OPTION = "index-kind"
"""What the variants on further kinds are named by, as on the command line."""
SEARCHES: dict[Kind, type[BaseModel]] = {"graph": WalkSearch, HIERARCHY: RouteSearch}
"""The kinds that have a search of their own, with its settings."""
VIEW, OWN = "view", "search"
"""Settings that steer such a search: whether it is used at all, and how."""


def checked(names: Iterable[str]) -> tuple[Kind, ...]:
    """List kinds, each once; UsageError for one that there is not, or where there is none."""
    known: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
    listed = list(dict.fromkeys(names))
    for name in listed:
        if name not in known:
            raise UsageError(f"there is no kind of index {name!r}", f"choose among {', '.join(known)}")
    if not listed:
        raise UsageError("no kind of index is named", f"name one or more of {', '.join(known)}, with commas between")
    return tuple(known[name] for name in listed)


def named(kind: str) -> str:
    """Name the variant of a strategy on another kind than the run's own."""
    return f"{OPTION}={kind}"


def is_named(variant: str) -> bool:
    """Tell whether a variant is the strategy as it is, on another kind."""
    return variant.startswith(f"{OPTION}=")


def folder_of(plain: Path, kind: Kind, group_by: Sequence[str] = ()) -> Path:
    """Name the folder of a kind of index beside that of the plain one; a hierarchy by other fields is another one."""
    grouped = "".join(f"-{written(field)}" for field in group_by) if kind == HIERARCHY else ""
    return plain if kind == PLAIN else plain.with_name(f"{plain.name}-{kind}{grouped}")


def written(name: str) -> str:
    """Write a name so that it can be part of a folder's."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def dotted(options: Mapping[str, Any]) -> dict[str, Any]:
    """Write what is set of a kind's own search with dots: search={"seeds": 3} is search.seeds=3."""
    own = options.get(OWN)
    found = {key: value for key, value in options.items() if key != OWN}
    return {**found, **{f"{OWN}.{name}": value for name, value in own.items()}} if isinstance(own, Mapping) else dict(options)


def own_settings(kind: Kind) -> dict[str, Any]:
    """Give the settings of a kind's own search with their defaults; none of a plain index."""
    fields = SEARCHES[kind].model_fields if kind in SEARCHES else {}
    return {f"{OWN}.{name}": field.get_default() for name, field in fields.items()}


def own_options(kind: Kind, options: Mapping[str, Any]) -> dict[str, Any]:
    """Give what options say of a kind's own search, as it takes them; UsageError for a bad value."""
    chosen = {key.removeprefix(f"{OWN}."): options[key] for key in own_settings(kind) if key in options}
    if not chosen:
        return {}
    try:
        return SEARCHES[kind].model_validate(chosen).model_dump(include=set(chosen))
    except ValidationError as error:
        first = error.errors()[0]
        wrong = ".".join((OWN, *map(str, first["loc"])))
        raise UsageError(f"{wrong}={first['input']!r} is not valid ({first['msg']})", "give another value") from error


def remedy(key: str, kinds: Sequence[Kind], otherwise: str) -> str:
    """Say what to do about a setting that nothing in a run heeds."""
    of_own_search = key == OWN or key.startswith(f"{OWN}.")
    if not of_own_search or key in own_settings(kinds[0]):
        return otherwise
    having = [kind for kind in SEARCHES if key in own_settings(kind)]
    if not having:
        return f"choose among {', '.join(dict.fromkeys(name for kind in SEARCHES for name in own_settings(kind)))}"
    return f"it is a setting of the search in an index of kind {having[0]}: give --{OPTION} {','.join(dict.fromkeys((having[0], *kinds)))}"
