"""Variants of a strategy: unchanged, with a swept value, with an ablated part, degraded, or on another kind of index."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from pydantic import BaseModel, Field, ValidationError

from ramify.graphs.run import check_reviewer
from ramify.graphs.strategies import PRESET, STRATEGIES, build, configure, expand_preset, find_strategy, max_calls
from ramify.kinds.hierarchy.router import RouteSearch
from ramify.kinds.knowledge.index import WalkSearch
from ramify.lab._degraded import Degradation, DegradationKind
from ramify.nodes.tree import FrozenModel
from ramify.tools.errors import UsageError
from ramify.tools.index.manifest import IndexKind
from ramify.tools.scrub import scrub

PLAIN_KIND: IndexKind = "passages"
HIERARCHY_KIND: IndexKind = "hierarchy"
KIND_OPTION = "index-kind"
"""The prefix of the names of variants on further kinds of index, as on the command line."""
KIND_SEARCHES: dict[IndexKind, type[BaseModel]] = {"graph": WalkSearch, HIERARCHY_KIND: RouteSearch}
"""The settings of the search of each kind of index that has its own."""
VIEW_SETTING, SEARCH_SETTING = "view", "search"
"""The settings that select such a search, and that contain its settings."""


def check_kinds(names: Iterable[str]) -> tuple[IndexKind, ...]:
    """Return the distinct kinds; UsageError for an unknown one, or an empty list."""
    known_kinds: dict[str, IndexKind] = {kind: kind for kind in get_args(IndexKind)}
    distinct = list(dict.fromkeys(names))
    for name in distinct:
        if name not in known_kinds:
            raise UsageError(f"there is no kind of index {name!r}", f"choose among {', '.join(known_kinds)}")
    if not distinct:
        raise UsageError("no kind of index is named", f"name one or more of {', '.join(known_kinds)}, with commas between")
    return tuple(known_kinds[name] for name in distinct)


def kind_variant(kind: str) -> str:
    """Return the variant name of a strategy on another kind of index."""
    return f"{KIND_OPTION}={kind}"


def is_kind_variant(variant: str) -> bool:
    """Return whether a variant is the unchanged strategy on another kind of index."""
    return variant.startswith(f"{KIND_OPTION}=")


def index_folder(plain_index: Path, kind: IndexKind, group_by: Sequence[str] = (), build: Mapping[str, Any] = MappingProxyType({})) -> Path:
    """Return the folder of a kind of index, next to the plain one; a hierarchy has one per grouping, a graph one per build settings."""
    if kind == "graph" and build:
        digest = hashlib.sha256(json.dumps(serializable_options(build), sort_keys=True).encode()).hexdigest()
        return plain_index.with_name(f"{plain_index.name}-{kind}-{digest[:12]}")
    grouped = "".join(f"-{slug(field)}" for field in group_by) if kind == HIERARCHY_KIND else ""
    return plain_index if kind == PLAIN_KIND else plain_index.with_name(f"{plain_index.name}-{kind}{grouped}")


def serializable_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as JSON values; objects, such as models, are replaced by the names of their classes."""
    return {key: value if isinstance(value, (str, int, float, bool)) else type(value).__name__ for key, value in options.items()}


def slug(name: str) -> str:
    """Return a name with hyphens instead of all characters but letters and digits."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def flatten_search_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the settings of a kind's own search flattened: search={"seeds": 3} becomes search.seeds=3."""
    search_settings = options.get(SEARCH_SETTING)
    flattened = {key: value for key, value in options.items() if key != SEARCH_SETTING}
    return (
        {**flattened, **{f"{SEARCH_SETTING}.{name}": value for name, value in search_settings.items()}}
        if isinstance(search_settings, Mapping)
        else dict(options)
    )


def kind_search_defaults(kind: IndexKind) -> dict[str, Any]:
    """Return the settings of a kind's own search with their defaults; empty for a plain index."""
    fields = KIND_SEARCHES[kind].model_fields if kind in KIND_SEARCHES else {}
    return {f"{SEARCH_SETTING}.{name}": field.get_default() for name, field in fields.items()}


def kind_search_options(kind: IndexKind, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a kind's own search, validated; UsageError for an invalid value."""
    chosen = {key.removeprefix(f"{SEARCH_SETTING}."): options[key] for key in kind_search_defaults(kind) if key in options}
    if not chosen:
        return {}
    try:
        return KIND_SEARCHES[kind].model_validate(chosen).model_dump(include=set(chosen))
    except ValidationError as error:
        first = error.errors()[0]
        wrong = ".".join((SEARCH_SETTING, *map(str, first["loc"])))
        raise UsageError(f"{wrong}={first['input']!r} is not valid ({first['msg']})", "give another value") from error


def unused_setting_remedy(key: str, kinds: Sequence[IndexKind], otherwise: str) -> str:
    """Return the remedy for the error about a setting without effect in a run."""
    of_own_search = key == SEARCH_SETTING or key.startswith(f"{SEARCH_SETTING}.")
    if not of_own_search or key in kind_search_defaults(kinds[0]):
        return otherwise
    supporting = [kind for kind in KIND_SEARCHES if key in kind_search_defaults(kind)]
    if not supporting:
        return f"choose among {', '.join(dict.fromkeys(name for kind in KIND_SEARCHES for name in kind_search_defaults(kind)))}"
    wanted = ",".join(dict.fromkeys((supporting[0], *kinds)))
    return f"it is a setting of the search in an index of kind {supporting[0]}: give --{KIND_OPTION} {wanted}"


ABLATION_SETTINGS: dict[str, dict[str, Any]] = {
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
"""The parts that can be ablated, with the setting or argument that does it."""
ABLATION_PREFIX = "without "
"""The prefix of the names of ablated variants."""
SEARCH_ONLY_SETTINGS = frozenset(
    {
        *("index", "filter", "view", "search", "k", "fetch_k", "mmr", "hybrid", "rerank", "rerank_k"),
        *("passage_tokens", "context_tokens", "final_k"),
    }
)
"""Settings without effect on a strategy that does not search."""
PYTHON_LITERALS = {None: "none", True: "true", False: "false"}


class Variant(FrozenModel):
    """A strategy with options; the name is empty for the run's own options."""

    strategy: str
    name: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    same_as_default: bool = False
    """Whether the options equal the defaults, so that answers are copied instead of computed again."""
    kind: IndexKind = PLAIN_KIND
    """Kind of the index that is searched."""
    degraded: Degradation | None = None
    """Degradation of its questions or searches."""

    @property
    def is_unchanged(self) -> bool:
        """Return whether it is the unchanged strategy, which is run on all questions."""
        return not self.name or is_kind_variant(self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """Return all settings as JSON values; a model object is replaced by its class name, because its repr may contain a key."""
        settings = configure(self.strategy, self.options)[1]
        values = settings.model_dump(mode="json", exclude={"index", "model"}, fallback=str)
        return {"model": settings.model if isinstance(settings.model, str) else type(settings.model).__name__, **values}

    @property
    def arguments(self) -> dict[str, Any]:
        """Return all arguments of `build`."""
        defaults = {key: parameter.default for key, parameter in find_strategy(self.strategy).parameters.items()}
        return {key: self.options.get(key, default) for key, default in defaults.items()}


def make_variants(
    strategies: Sequence[str],
    base: Mapping[str, Any],
    sweeps: Mapping[str, Sequence[Any]],
    ablations: Sequence[str],
    kinds: Sequence[IndexKind] = (PLAIN_KIND,),
    degrade: Mapping[DegradationKind, Sequence[float]] = MappingProxyType({}),
) -> list[Variant]:
    """Return the variants of each strategy: unchanged, with each swept value, without each ablated part, with each degradation, and on
    each further kind of index.

    UsageError for an unknown strategy, setting or part.
    """
    base = {"style": "short", **flatten_search_settings(base)}  # explanations are not scored, so they are not generated
    if unknown := [name for name in ablations if name not in ABLATION_SETTINGS]:
        raise UsageError(f"there is no part {unknown[0]!r} to leave out", f"choose one of {', '.join(ABLATION_SETTINGS)}")
    swept = {f"{key}={format_value(value)}": {key: value} for key, values in sweeps.items() for value in values}
    ablated = {f"{ABLATION_PREFIX}{name}": ABLATION_SETTINGS[name] for name in ablations}
    if (preset := base.get(PRESET)) is not None and not any(preset in find_strategy(name).presets for name in strategies):
        having = ", ".join(name for name, strategy in STRATEGIES.items() if preset in strategy.presets)
        raise UsageError(f"none of {', '.join(strategies)} has a preset {preset!r}", f"name one of {having or 'none'}, or leave it out")
    variants: list[Variant] = []
    for name in dict.fromkeys(strategies):
        available = _available_options(name, kinds[0])
        variants.append(_make_variant(name, base, kinds[0]))
        for change, options in {**swept, **ablated}.items():
            if options.keys() <= available.keys():
                changed = _make_variant(name, base, kinds[0], change, options)
                # a part that is disabled anyway is not ablated
                variants += [changed] if not (changed.same_as_default and change in ablated) else []
        variants += [
            variant
            for kind_of_degradation, shares in degrade.items()
            for variant in _degraded_variants(name, base, kind_of_degradation, shares, kinds[0])
        ]
        variants += [_make_variant(name, base, kind, kind_variant(kind)) for kind in kinds[1:] if _uses_retrieval(name)]
    if unused := [change for change in (*swept, *ablated) if change not in {variant.name for variant in variants}]:
        what = f"{unused[0]!r} changes nothing in {', '.join(strategies) or 'a run without strategies'}"
        raise UsageError(what, unused_setting_remedy(unused[0].partition("=")[0], kinds, "leave it out, or name a strategy that has it"))
    return variants


def _degraded_variants(
    strategy: str, base: Mapping[str, Any], degradation: DegradationKind, shares: Sequence[float], kind: IndexKind
) -> list[Variant]:
    """Return a strategy with increasing shares of degradation, beginning with 0; empty if the kind does not apply to it."""
    if degradation != "paraphrase" and "retrieve" not in build(strategy).steps:
        return []
    unchanged, degraded = _make_variant(strategy, base, kind), []
    for share in sorted({0.0, *shares}):
        worse = {"degraded": Degradation(kind=degradation, share=share)} if share else {"same_as_default": True}
        degraded.append(unchanged.model_copy(update={"name": f"{degradation}={format_value(share)}", **worse}))
    return degraded


def _make_variant(
    strategy: str, base: Mapping[str, Any], kind: IndexKind, name: str = "", changed: Mapping[str, Any] = MappingProxyType({})
) -> Variant:
    """Return a strategy with those options of the run that it has, and changed ones."""
    available = _available_options(strategy, kind)
    applicable = (
        base if base.get(PRESET) in find_strategy(strategy).presets else {key: value for key, value in base.items() if key != PRESET}
    )
    run_options = {key: value for key, value in expand_preset(strategy, applicable).items() if key in available}
    options = {**run_options, **changed}
    check_reviewer(configure(strategy, options)[1], None)  # raises for an invalid value
    kind_search_options(kind, options)
    same = bool(changed) and all(run_options.get(key, available[key]) == value for key, value in changed.items())
    return Variant(strategy=strategy, name=name, options=options, same_as_default=same, kind=kind)


def _available_options(strategy: str, kind: IndexKind) -> dict[str, Any]:
    """Return the options of a strategy on a kind of index, with their defaults."""
    searches = _uses_retrieval(strategy)
    excluded = {SEARCH_SETTING} if searches else SEARCH_ONLY_SETTINGS
    fields = build(strategy).settings.model_fields
    settings = {name: field.get_default() for name, field in fields.items() if name not in excluded}
    arguments = {name: parameter.default for name, parameter in find_strategy(strategy).parameters.items()}
    return {**settings, **(kind_search_defaults(kind) if searches else {}), **arguments}


def _uses_retrieval(strategy: str) -> bool:
    most = max_calls(strategy, build(strategy).settings())
    return most is None or most.retrievals > 0


def format_value(value: Any) -> str:
    """Format a value as on the command line; 1.0 is 1."""
    if value is None or isinstance(value, bool):
        return PYTHON_LITERALS[value]
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else scrub(str(value))
