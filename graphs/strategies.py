"""The strategies by name, and how an option finds its place: a setting, or an argument of the wiring."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from ramify.graphs import chain, closed_book, global_search, iterative, naive, prune, tor
from ramify.graphs.strategy import Ceiling, Strategy
from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import Settings
from ramify.nodes.settings.settings import QUOTED
from ramify.tools.errors import UsageError
from ramify.tools.quoting import brief

STRATEGIES: dict[str, Strategy] = {
    one.name: one
    for one in (
        prune.STRATEGY,
        tor.STRATEGY,
        iterative.STRATEGY,
        chain.STRATEGY,
        naive.STRATEGY,
        global_search.STRATEGY,
        closed_book.STRATEGY,
    )
}
DEFAULT = "prune"
PRESET = "preset"
UNTOLD = "a strategy of your own, so it is not known how many model calls it takes; max_calls bounds them"


def register(strategy: Strategy) -> Strategy:
    """Make a strategy known to every door; one that has its name is replaced."""
    STRATEGIES[strategy.name] = strategy
    shared.cache_clear()
    return strategy


def build(name: str = DEFAULT, **arguments: Any) -> Wiring[Any]:
    """Wire a strategy by name; UsageError for an unknown name or argument."""
    if unknown := arguments.keys() - arguments_of(name).keys():
        raise UsageError(f"{name} has no argument {sorted(unknown)[0]!r}", f"it has {_listed(arguments_of(name))}")
    return named(name).build(**arguments)


def arguments_of(name: str) -> dict[str, inspect.Parameter]:
    """List the arguments of a strategy's wiring."""
    return dict(inspect.signature(named(name).build).parameters)


@cache
def shared(name: str, **arguments: Any) -> Wiring[Any]:
    """Wire a strategy once for the same arguments: to add to a wiring, take one from `build`."""
    return build(name, **arguments)


def expanded(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Put the options of the preset that is named in them before the others; UsageError for a preset that there is not."""
    preset = options.get(PRESET)
    if preset is None:
        return {key: value for key, value in options.items() if key != PRESET}
    presets = named(name).presets
    if preset not in presets:
        raise UsageError(f"{name} has no preset {brief(repr(preset), QUOTED)}", f"it has {_listed(presets)}")
    return {**presets[preset], **{key: value for key, value in options.items() if key != PRESET}}


def configure(name: str, options: Mapping[str, Any], wire: Callable[..., Wiring[Any]] = shared) -> tuple[Wiring[Any], Settings]:
    """Return the wiring and the settings that the options ask for; UsageError for an option that is neither, or a bad value.

    `preset` among the options stands for those of the strategy's preset of that name; what is said beside it counts before it.
    """
    options = expanded(name, options)
    arguments = arguments_of(name)
    wiring = wire(name, **{key: _argument(arguments[key], value) for key, value in options.items() if key in arguments})
    chosen = nested({key: value for key, value in options.items() if key not in arguments})
    fields = wiring.settings.model_fields
    if unknown := chosen.keys() - fields.keys():
        wrong = sorted(unknown)[0]
        raise UsageError(
            f"{name} has no setting {wrong!r}", _meant(wrong, [*arguments, *fields]) or f"it has {_listed([*arguments, *fields])}"
        )
    try:
        return wiring, wiring.settings.model_validate(chosen)
    except UsageError as error:
        raise UsageError(error.what, error.remedy.replace("STRATEGY", name)) from None


def nested(options: Mapping[str, Any]) -> dict[str, Any]:
    """Put options with dots in their names into one: search.seeds=3 is search={"seeds": 3}."""
    found: dict[str, Any] = {}
    for key, value in options.items():
        name, dot, rest = key.partition(".")
        if not dot:
            found[name] = {**found[name], **value} if isinstance(found.get(name), dict) and isinstance(value, dict) else value
            continue
        held = found.setdefault(name, {})
        if not isinstance(held, dict):
            raise UsageError(f"{key!r} and {name!r} are both given", "give one of them")
        found[name] = {**held, rest: value}
    return found


def _argument(parameter: inspect.Parameter, value: Any) -> Any:
    try:
        return TypeAdapter(parameter.annotation).validate_python(value)
    except ValidationError:
        annotation = parameter.annotation
        allowed = get_args(annotation) if get_origin(annotation) is Literal else ("true", "false")
        raise UsageError(f"{parameter.name}={brief(repr(value), QUOTED)} is not valid", f"choose one of {_listed(allowed)}") from None


def named(name: str) -> Strategy:
    """Find a strategy by its name; UsageError where there is none."""
    if name not in STRATEGIES:
        raise UsageError(f"there is no strategy {name!r}", _meant(name, STRATEGIES) or f"choose one of {_listed(STRATEGIES)}")
    return STRATEGIES[name]


def ceiling(name: str, settings: Settings, arguments: Mapping[str, Any] = MappingProxyType({})) -> Ceiling | None:
    """Work out the ceiling of a strategy with these settings and arguments of its wiring; None where it is not known."""
    work_out = named(name).ceiling
    if work_out is None:
        return None
    defaults = {key: parameter.default for key, parameter in arguments_of(name).items()}
    most = work_out(settings, **{**defaults, **arguments})
    calls = most.calls if settings.max_calls is None else min(most.calls, settings.max_calls)
    return most._replace(calls=calls, critical_path=min(most.critical_path, calls))


def outlook(name: str, options: Mapping[str, Any]) -> str:
    """Say what a question can cost at most with these options."""
    _, settings = configure(name, options)
    options = expanded(name, options)
    arguments = {key: value for key, value in options.items() if key in arguments_of(name)}
    told = f"{name}: {ceiling(name, settings, arguments) or UNTOLD}"
    if getattr(settings, "dependent", False):
        told += "; a sub-question that needs its sibling's answer waits for it: one more level"
    return told


def _meant(wrong: str, names: Iterable[str]) -> str:
    close = get_close_matches(wrong, names, 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _listed(names: Any) -> str:
    return ", ".join(map(str, names)) or "none"
