"""Strategies: what one is, which there are, and how options become a wiring with its settings."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from ramify.graphs.call_counts import MaxCalls
from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import QUOTED, Settings
from ramify.tools.errors import UsageError
from ramify.tools.quoting import truncate_line

DEFAULT = "prune"
PRESET = "preset"
UNBOUNDED = "a strategy of your own, so it is not known how many model calls it takes; max_calls bounds them"


@dataclass(frozen=True)
class Strategy:
    """A strategy, as the command line, tools, notebook and Studio read it once it is registered."""

    name: str
    build: Callable[..., Wiring[Any]]
    """Makes its wiring; what changes the graph is an argument."""
    description: str = ""
    """What it does, in a line, as the lists of assistants and tools show it."""
    paper: str = ""
    """Where it is from."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What the arguments of `build` do."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options that belong together, by name: `paper` is the paper's own way."""
    max_calls: Callable[..., MaxCalls] | None = None
    """The most that a question can cost, of its settings and arguments; None where it is not known."""

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The arguments of `build`, by name."""
        return dict(inspect.signature(self.build).parameters)


STRATEGIES: dict[str, Strategy] = {}
"""The registered strategies by name."""


def register(strategy: Strategy) -> Strategy:
    """Add a strategy to STRATEGIES; one of the same name is replaced."""
    STRATEGIES[strategy.name] = strategy
    shared.cache_clear()
    return strategy


def find_strategy(name: str) -> Strategy:
    """Return a strategy by its name; UsageError where there is none."""
    if name not in STRATEGIES:
        raise UsageError(f"there is no strategy {name!r}", _meant(name, STRATEGIES) or f"choose one of {_listed(STRATEGIES)}")
    return STRATEGIES[name]


def build(name: str = DEFAULT, **arguments: Any) -> Wiring[Any]:
    """Return a new wiring of a strategy; UsageError for an unknown name or argument."""
    strategy = find_strategy(name)
    if unknown := arguments.keys() - strategy.parameters.keys():
        raise UsageError(f"{name} has no argument {sorted(unknown)[0]!r}", f"it has {_listed(strategy.parameters)}")
    made = strategy.build(**arguments)
    made.name = name
    return made


@cache
def shared(name: str, **arguments: Any) -> Wiring[Any]:
    """Return the same wiring for the same arguments: to change a wiring, take one from `build`."""
    return build(name, **arguments)


def configure(name: str, options: Mapping[str, Any], wire: Callable[..., Wiring[Any]] = shared) -> tuple[Wiring[Any], Settings]:
    """Return the wiring and the settings that the options ask for; UsageError for an option that is neither, or a bad value."""
    if PRESET in options:
        options = expand_preset(name, options)
    arguments = find_strategy(name).parameters
    wiring = wire(name, **{key: _argument(arguments[key], value) for key, value in options.items() if key in arguments})
    chosen = {key: value for key, value in options.items() if key not in arguments}
    if any("." in key for key in chosen):
        chosen = _nested(chosen)
    known = [*arguments, *wiring.settings.model_fields]
    if unknown := sorted(chosen.keys() - set(known)):
        raise UsageError(f"{name} has no setting {unknown[0]!r}", _meant(unknown[0], known) or f"it has {_listed(known)}")
    try:
        return wiring, wiring.settings.model_validate(chosen)
    except UsageError as error:
        raise UsageError(error.what, error.remedy.replace("STRATEGY", name)) from None


def expand_preset(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Replace `preset` by the options it stands for, which those given beside it override; UsageError for an unknown preset."""
    presets = find_strategy(name).presets
    preset: Any = options.get(PRESET)
    if preset is not None and preset not in presets:
        raise UsageError(f"{name} has no preset {truncate_line(repr(preset), QUOTED)}", f"it has {_listed(presets)}")
    return {**presets.get(preset, {}), **{key: value for key, value in options.items() if key != PRESET}}


def max_calls(name: str, settings: Settings, arguments: Mapping[str, Any] = MappingProxyType({})) -> MaxCalls | None:
    """Return the most that a question can cost with these settings and arguments of the wiring; None where it is not known."""
    strategy = find_strategy(name)
    if strategy.max_calls is None:
        return None
    given = {key: arguments.get(key, parameter.default) for key, parameter in strategy.parameters.items()}
    most = strategy.max_calls(settings, **given)
    calls = most.calls if settings.max_calls is None else min(most.calls, settings.max_calls)
    return most._replace(calls=calls, critical_path=min(most.critical_path, calls))


def describe_max_calls(name: str, options: Mapping[str, Any]) -> str:
    """Return a sentence on the most that a question can cost with these options."""
    _, settings = configure(name, options)
    return f"{name}: {max_calls(name, settings, expand_preset(name, options)) or UNBOUNDED}"


def _nested(options: Mapping[str, Any]) -> dict[str, Any]:
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
    annotation = parameter.annotation
    try:
        return TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        allowed = get_args(annotation) if get_origin(annotation) is Literal else ("true", "false")
        raise UsageError(
            f"{parameter.name}={truncate_line(repr(value), QUOTED)} is not valid", f"choose one of {_listed(allowed)}"
        ) from None


def _meant(wrong: str, names: Iterable[str]) -> str:
    close = get_close_matches(wrong, names, 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names)) or "none"
