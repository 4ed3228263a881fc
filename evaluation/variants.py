"""Variants of a strategy: at its defaults, along a sweep, with a part left out, or on another kind of index."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel, Field, ValidationError

from ramify.evaluation.degraded import Degradation, How
from ramify.graphs.run import check_reviewer
from ramify.graphs.strategies import PRESET, STRATEGIES, build, configure, expand_preset, find_strategy, max_calls
from ramify.nodes.tree import FrozenModel
from ramify.tools.errors import UsageError
from ramify.tools.hierarchy.router import RouteSearch
from ramify.tools.index.manifest import Kind
from ramify.tools.knowledge.index import WalkSearch
from ramify.tools.scrub import scrub

PLAIN: Kind = "passages"
HIERARCHY: Kind = "hierarchy"
OPTION = "index-kind"
"""The prefix of variants on further kinds, as on the command line."""
SEARCHES: dict[Kind, type[BaseModel]] = {"graph": WalkSearch, HIERARCHY: RouteSearch}
"""The kinds that have their own search, with its settings."""
VIEW, OWN = "view", "search"
"""Settings that steer such a search: whether it is used at all, and how."""


def check_kinds(names: Iterable[str]) -> tuple[Kind, ...]:
    """Return the distinct kinds; UsageError for an unknown one, or an empty list."""
    known: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
    listed = list(dict.fromkeys(names))
    for name in listed:
        if name not in known:
            raise UsageError(f"there is no kind of index {name!r}", f"choose among {', '.join(known)}")
    if not listed:
        raise UsageError("no kind of index is named", f"name one or more of {', '.join(known)}, with commas between")
    return tuple(known[name] for name in listed)


def kind_variant(kind: str) -> str:
    """Return the variant name of a strategy on another kind of index."""
    return f"{OPTION}={kind}"


def is_named(variant: str) -> bool:
    """Return whether a variant is the unchanged strategy on another kind of index."""
    return variant.startswith(f"{OPTION}=")


def folder_of(plain: Path, kind: Kind, group_by: Sequence[str] = (), build: Mapping[str, Any] = MappingProxyType({})) -> Path:
    """Return the folder of a kind of index, beside the plain one; a hierarchy has one per grouping, a graph one per way to build it."""
    if kind == "graph" and build:
        digest = hashlib.sha256(json.dumps(named(build), sort_keys=True).encode()).hexdigest()
        return plain.with_name(f"{plain.name}-{kind}-{digest[:12]}")
    grouped = "".join(f"-{slug(field)}" for field in group_by) if kind == HIERARCHY else ""
    return plain if kind == PLAIN else plain.with_name(f"{plain.name}-{kind}{grouped}")


def named(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as plain values: what is an object, such as a model, by its class."""
    return {key: value if isinstance(value, (str, int, float, bool)) else type(value).__name__ for key, value in options.items()}


def slug(name: str) -> str:
    """Return a name in which all but letters and digits are hyphens."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def flatten_search(options: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten the settings of a kind's own search: search={"seeds": 3} is search.seeds=3."""
    own = options.get(OWN)
    found = {key: value for key, value in options.items() if key != OWN}
    return {**found, **{f"{OWN}.{name}": value for name, value in own.items()}} if isinstance(own, Mapping) else dict(options)


def own_settings(kind: Kind) -> dict[str, Any]:
    """Return the settings of a kind's own search with their defaults; empty for a plain index."""
    fields = SEARCHES[kind].model_fields if kind in SEARCHES else {}
    return {f"{OWN}.{name}": field.get_default() for name, field in fields.items()}


def own_options(kind: Kind, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a kind's own search, validated; UsageError for an invalid value."""
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
    """Return the remedy for a setting without effect in a run."""
    of_own_search = key == OWN or key.startswith(f"{OWN}.")
    if not of_own_search or key in own_settings(kinds[0]):
        return otherwise
    having = [kind for kind in SEARCHES if key in own_settings(kind)]
    if not having:
        return f"choose among {', '.join(dict.fromkeys(name for kind in SEARCHES for name in own_settings(kind)))}"
    return f"it is a setting of the search in an index of kind {having[0]}: give --{OPTION} {','.join(dict.fromkeys((having[0], *kinds)))}"


ABLATIONS: dict[str, dict[str, Any]] = {
    "judge": {"judged": False},
    "prune": {"theta": 0.0},
    "answer": {"answers": False},
    "entities": {"entities": False},
    "confidence": {"confidence": False},
    "adaptive": {"adaptive": False},
    "mmr": {"mmr": None},
    "hybrid": {"hybrid": False},
    "dependent": {"dependent": False},
}
"""The parts that can be ablated, and by which setting or argument."""
WITHOUT = "without "
"""How the names of these variants begin."""
OF_SEARCHING = frozenset(
    {
        *("index", "filter", "view", "search", "k", "fetch_k", "mmr", "hybrid", "rerank", "rerank_k"),
        *("passage_tokens", "context_tokens", "final_k"),
    }
)
"""Settings without effect on a strategy that does not search."""
PYTHON = {None: "none", True: "true", False: "false"}


class Variant(FrozenModel):
    """A strategy with options; the name is empty for the run's own options."""

    strategy: str
    name: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    same_as_default: bool = False
    """Whether the options equal the defaults: then nothing is asked twice."""
    kind: Kind = PLAIN
    """Of the index that is searched."""
    degraded: Degradation | None = None
    """What is made worse in its questions or searches."""

    @property
    def whole(self) -> bool:
        """Return whether every question is asked: the unchanged strategy."""
        return not self.name or is_named(self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """Return all settings as plain values; a model object by its class, because its repr may contain a key."""
        settings = configure(self.strategy, self.options)[1]
        told = settings.model_dump(mode="json", exclude={"index", "model"}, fallback=str)
        return {"model": settings.model if isinstance(settings.model, str) else type(settings.model).__name__, **told}

    @property
    def arguments(self) -> dict[str, Any]:
        """Return all arguments of `build`."""
        defaults = {key: parameter.default for key, parameter in find_strategy(self.strategy).parameters.items()}
        return {key: self.options.get(key, default) for key, default in defaults.items()}


def variants(
    strategies: Sequence[str],
    base: Mapping[str, Any],
    sweeps: Mapping[str, Sequence[Any]],
    ablations: Sequence[str],
    kinds: Sequence[Kind] = (PLAIN,),
    degrade: Mapping[How, Sequence[float]] = MappingProxyType({}),
) -> list[Variant]:
    """Return the variants: each strategy unchanged, along each sweep, without each ablated part, with shares of its questions or searches
    made worse, and on each further kind of index.

    UsageError for an unknown strategy, setting or part.
    """
    base = {"style": "short", **flatten_search(base)}  # a text is not scored: benchmarks pay nothing for it
    if unknown := [name for name in ablations if name not in ABLATIONS]:
        raise UsageError(f"there is no part {unknown[0]!r} to leave out", f"choose one of {', '.join(ABLATIONS)}")
    swept = {f"{key}={shown(value)}": {key: value} for key, values in sweeps.items() for value in values}
    less = {f"{WITHOUT}{name}": ABLATIONS[name] for name in ablations}
    if (preset := base.get(PRESET)) is not None and not any(preset in find_strategy(name).presets for name in strategies):
        having = ", ".join(name for name, one in STRATEGIES.items() if preset in one.presets)
        raise UsageError(f"none of {', '.join(strategies)} has a preset {preset!r}", f"name one of {having or 'none'}, or leave it out")
    found: list[Variant] = []
    for name in dict.fromkeys(strategies):
        offers = _offers(name, kinds[0])
        found.append(_variant(name, base, kinds[0]))
        for change, options in {**swept, **less}.items():
            if options.keys() <= offers.keys():
                changed = _variant(name, base, kinds[0], change, options)
                # a part that is off anyway is not left out
                found += [changed] if not (changed.same_as_default and change in less) else []
        found += [one for how, shares in degrade.items() for one in _degraded(name, base, how, shares, kinds[0])]
        found += [_variant(name, base, kind, kind_variant(kind)) for kind in kinds[1:] if _searches(name)]
    if unused := [change for change in (*swept, *less) if change not in {variant.name for variant in found}]:
        what = f"{unused[0]!r} changes nothing in {', '.join(strategies) or 'a run without strategies'}"
        raise UsageError(what, remedy(unused[0].partition("=")[0], kinds, "leave it out, or name a strategy that has it"))
    return found


def _degraded(strategy: str, base: Mapping[str, Any], how: How, shares: Sequence[float], kind: Kind) -> list[Variant]:
    """Return a strategy with growing shares made worse, from none on; nothing if it has nothing to make worse."""
    if how != "paraphrase" and "retrieve" not in build(strategy).steps:
        return []
    plain, found = _variant(strategy, base, kind), []
    for share in sorted({0.0, *shares}):
        worse = {"degraded": Degradation(how=how, share=share)} if share else {"same_as_default": True}
        found.append(plain.model_copy(update={"name": f"{how}={shown(share)}", **worse}))
    return found


def _variant(
    strategy: str, base: Mapping[str, Any], kind: Kind, name: str = "", changed: Mapping[str, Any] = MappingProxyType({})
) -> Variant:
    """Return a strategy with the options of the run that it has, and changed ones."""
    offers = _offers(strategy, kind)
    known = base if base.get(PRESET) in find_strategy(strategy).presets else {key: value for key, value in base.items() if key != PRESET}
    given = {key: value for key, value in expand_preset(strategy, known).items() if key in offers}
    options = {**given, **changed}
    check_reviewer(configure(strategy, options)[1], None)  # a bad value is told before anything is asked
    own_options(kind, options)
    same = bool(changed) and all(given.get(key, offers[key]) == value for key, value in changed.items())
    return Variant(strategy=strategy, name=name, options=options, same_as_default=same, kind=kind)


def _offers(strategy: str, kind: Kind) -> dict[str, Any]:
    """Return the options of a strategy in a kind of index, with their defaults."""
    searches = _searches(strategy)
    unheeded = {OWN} if searches else OF_SEARCHING
    fields = build(strategy).settings.model_fields
    settings = {name: field.get_default() for name, field in fields.items() if name not in unheeded}
    arguments = {name: parameter.default for name, parameter in find_strategy(strategy).parameters.items()}
    return {**settings, **(own_settings(kind) if searches else {}), **arguments}


def _searches(strategy: str) -> bool:
    most = max_calls(strategy, build(strategy).settings())
    return most is None or most.retrievals > 0


def shown(value: Any) -> str:
    """Format a value as on the command line; 1.0 is 1."""
    if value is None or isinstance(value, bool):
        return PYTHON[value]
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else scrub(str(value))
