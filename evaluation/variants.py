"""Variants of a strategy: at its defaults, along a sweep, or with a part left out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from ramify.evaluation.index_kinds import OWN, PLAIN, dotted, is_named, named, own_options, own_settings, remedy
from ramify.graphs.strategies import PRESET, arguments_of, build, configure, expand_preset, find_strategy, max_calls
from ramify.nodes.tree import FrozenModel
from ramify.tools.errors import UsageError
from ramify.tools.index.manifest import Kind
from ramify.tools.scrub import scrub

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
"""What can be left out, and by which setting or argument; a strategy that has no such part has no such variant."""
OF_SEARCHING = frozenset(
    {
        *("index", "filter", "view", "search", "k", "fetch_k", "mmr", "hybrid", "rerank", "rerank_k"),
        *("passage_tokens", "context_tokens", "final_k"),
    }
)
"""Settings that mean nothing to a strategy that does not search."""
PYTHON = {None: "none", True: "true", False: "false"}


class Variant(FrozenModel):
    """A strategy with options; its name is empty where they are the run's own."""

    strategy: str
    name: str = ""
    options: dict[str, Any] = Field(default_factory=dict)
    same_as_default: bool = False
    """Whether the options are what the strategy does anyway: then nothing is asked twice."""
    kind: Kind = PLAIN
    """Of the index that is searched."""

    @property
    def whole(self) -> bool:
        """Tell whether it is asked every question: the strategy with all its parts, at the run's own settings."""
        return not self.name or is_named(self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """Give every setting as plain values; an object by its class, because what it prints may hold a key."""
        settings = configure(self.strategy, self.options)[1]
        told = settings.model_dump(mode="json", exclude={"index", "model"}, fallback=str)
        return {"model": settings.model if isinstance(settings.model, str) else type(settings.model).__name__, **told}

    @property
    def arguments(self) -> dict[str, Any]:
        """Give every argument of the wiring."""
        defaults = {key: parameter.default for key, parameter in arguments_of(self.strategy).items()}
        return {key: self.options.get(key, default) for key, default in defaults.items()}


class Change(FrozenModel):
    """What a variant does otherwise."""

    name: str
    options: dict[str, Any]
    ablation: bool = False


def variants(
    strategies: Sequence[str],
    base: Mapping[str, Any],
    sweeps: Mapping[str, Sequence[Any]],
    ablations: Sequence[str],
    kinds: Sequence[Kind] = (PLAIN,),
) -> list[Variant]:
    """List what is to be run: each strategy as it is, then along each sweep, with each part left out, and in each further kind of index.

    UsageError for an unknown strategy, setting or part, before anything is asked.
    """
    base = dotted(base)
    if unknown := [name for name in ablations if name not in ABLATIONS]:
        raise UsageError(f"there is no part {unknown[0]!r} to leave out", f"choose one of {', '.join(ABLATIONS)}")
    swept = [Change(name=f"{key}={shown(value)}", options={key: value}) for key, values in sweeps.items() for value in values]
    less = [Change(name=f"without {name}", options=ABLATIONS[name], ablation=True) for name in ablations]
    if (preset := base.get(PRESET)) is not None and not any(preset in find_strategy(name).presets for name in strategies):
        raise UsageError(f"none of {', '.join(strategies)} has a preset {preset!r}", "name tor or prune, or leave it out")
    changes = list({change.name: change for change in (*swept, *less)}.values())
    found: list[Variant] = []
    for name in dict.fromkeys(strategies):
        found.append(_variant(name, base, Change(name="", options={}), kinds[0]))
        found += _changed(name, base, changes, kinds[0])
        found += [_variant(name, base, Change(name=named(kind), options={}), kind) for kind in kinds[1:] if _searches(name)]
    if unused := [change.name for change in changes if change.name not in {variant.name for variant in found}]:
        what = f"{unused[0]!r} changes nothing in {', '.join(strategies) or 'a run without strategies'}"
        raise UsageError(what, remedy(unused[0].partition("=")[0], kinds, "leave it out, or name a strategy that has it"))
    return found


def _changed(strategy: str, base: Mapping[str, Any], changes: Iterable[Change], kind: Kind) -> list[Variant]:
    """List the variants of a strategy; a part that it does not have, or that the run has left out anyway, cannot be left out."""
    offers = _offers(strategy, kind)
    found = [_variant(strategy, base, change, kind) for change in changes if change.options.keys() <= offers.keys()]
    parts = {change.name for change in changes if change.ablation}
    return [variant for variant in found if not (variant.same_as_default and variant.name in parts)]


def _variant(strategy: str, base: Mapping[str, Any], change: Change, kind: Kind) -> Variant:
    offers = _offers(strategy, kind)
    known = base if base.get(PRESET) in find_strategy(strategy).presets else {key: value for key, value in base.items() if key != PRESET}
    given = {key: value for key, value in expand_preset(strategy, known).items() if key in offers}
    options = {**given, **change.options}
    configure(strategy, options)  # a bad value is told before anything is asked
    own_options(kind, options)
    usual = {key: given.get(key, offers[key]) for key in change.options}
    same = bool(change.options) and usual == change.options
    return Variant(strategy=strategy, name=change.name, options=options, same_as_default=same, kind=kind)


def _offers(strategy: str, kind: Kind) -> dict[str, Any]:
    """Give every option that a strategy heeds in a kind of index, with its default."""
    searches = _searches(strategy)
    unheeded = {OWN} if searches else OF_SEARCHING
    fields = build(strategy).settings.model_fields
    settings = {name: field.get_default() for name, field in fields.items() if name not in unheeded}
    arguments = {name: parameter.default for name, parameter in arguments_of(strategy).items()}
    return {**settings, **(own_settings(kind) if searches else {}), **arguments}


def _searches(strategy: str) -> bool:
    most = max_calls(strategy, build(strategy).settings())
    return most is None or most.retrievals > 0


def shown(value: Any) -> str:
    """Write a value as on the command line; 1.0 is 1."""
    if value is None or isinstance(value, bool):
        return PYTHON[value]
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else scrub(str(value))
