"""Strategies: their class and registry, and the wiring and settings that options ask for."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import MAX_QUOTED_CHARS, Settings, is_embedded
from ramify.tools import plugins
from ramify.tools.errors import PluginError, UsageError
from ramify.tools.quoting import pluralize, truncate_line
from ramify.tools.search.relevance import MODEL

DEFAULT = "prune"
PRESET = "preset"
UNBOUNDED = "custom strategy: the number of model calls is unknown; limit it with max_calls"


class MaxCalls(NamedTuple):
    """The maximum cost of a question: model calls and searches.

    Only repeated calls can exceed it: after a malformed reply or a failure.
    """

    calls: int
    retrievals: int

    def __str__(self) -> str:
        return f"at most {pluralize(self.calls, 'model call')} and {pluralize(self.retrievals, 'search', 'searches')}"


def writing_calls(settings: Settings) -> int:
    """Return the calls that write the answer in sentences where no final call concludes with them."""
    return int(settings.style in ("auto", "full") and not is_embedded(settings.model))


@dataclass(frozen=True)
class Strategy:
    """A strategy; once registered, it is available on the command line, in tools, notebook and Studio."""

    name: str
    build: Callable[..., Wiring[Any]]
    """Returns its wiring; options that change the graph are its arguments."""
    description: str = ""
    """A one-line description, shown in lists of assistants and tools."""
    paper: str = ""
    """The paper it is from."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of the arguments of `build`."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Named sets of options; `paper` has the paper's values."""
    max_calls: Callable[..., MaxCalls] | None = None
    """Returns the maximum cost of a short answer, from settings and arguments; None if unknown."""

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The arguments of `build`, by name."""
        return dict(inspect.signature(self.build).parameters)


STRATEGIES: dict[str, Strategy] = {}
"""The registered strategies by name; `load_strategies` adds those of plug-ins."""


def register(strategy: Strategy) -> Strategy:
    """Add a strategy to STRATEGIES; one of the same name is replaced."""
    STRATEGIES[strategy.name] = strategy
    shared_wiring.cache_clear()
    return strategy


def find_strategy(name: str) -> Strategy:
    """Return a strategy by its name, from a plug-in if it is not registered; UsageError where there is none."""
    if name in STRATEGIES:
        return STRATEGIES[name]
    known = [*STRATEGIES, *plugins.names("ramify.strategies")]
    if name not in known:
        raise UsageError(f"there is no strategy {name!r}", _suggestion(name, known) or f"choose one of {_join_names(known)}")
    strategy = plugins.load("ramify.strategies", name)
    if not isinstance(strategy, Strategy) or strategy.name != name:
        what = f"what a plug-in offers as the strategy {name!r} is {truncate_line(repr(strategy), MAX_QUOTED_CHARS)}"
        raise PluginError(what, "let it offer a `ramify.graphs.Strategy` of that name")
    return register(strategy)


def load_strategies() -> Mapping[str, Strategy]:
    """Return all strategies, with those of plug-ins; PluginError for a broken plug-in."""
    for name in plugins.names("ramify.strategies"):
        find_strategy(name)
    return STRATEGIES


def build(name: str = DEFAULT, **arguments: Any) -> Wiring[Any]:
    """Return a new wiring of a strategy; UsageError for an unknown name or argument."""
    strategy = find_strategy(name)
    if unknown := arguments.keys() - strategy.parameters.keys():
        raise UsageError(f"{name} has no argument {sorted(unknown)[0]!r}", f"it has {_join_names(strategy.parameters)}")
    made = strategy.build(**arguments)
    made.name = name
    return made


@cache
def shared_wiring(name: str, **arguments: Any) -> Wiring[Any]:
    """Return the same wiring for the same arguments: to change a wiring, take one from `build`."""
    return build(name, **arguments)


def configure(name: str, options: Mapping[str, Any], wire: Callable[..., Wiring[Any]] = shared_wiring) -> tuple[Wiring[Any], Settings]:
    """Return the wiring and settings for options; UsageError for an unknown option or an invalid value."""
    if PRESET in options:
        options = expand_preset(name, options)
    arguments = find_strategy(name).parameters
    wiring = wire(name, **{key: _argument(arguments[key], value) for key, value in options.items() if key in arguments})
    chosen = {key: value for key, value in options.items() if key not in arguments}
    if any("." in key for key in chosen):
        chosen = _nest_options(chosen)
    known = [*arguments, *wiring.settings.model_fields]
    if unknown := sorted(chosen.keys() - set(known)):
        raise UsageError(f"{name} has no setting {unknown[0]!r}", _suggestion(unknown[0], known) or f"it has {_join_names(known)}")
    try:
        return wiring, wiring.settings.model_validate(chosen)
    except UsageError as error:
        raise UsageError(error.what, error.remedy.replace("STRATEGY", name)) from None


def own_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options that a strategy has: settings, arguments of its graph, and a preset; UsageError for an unknown name."""
    known = {"preset", *find_strategy(name).parameters, *shared_wiring(name).settings.model_fields}
    return {option: value for option, value in options.items() if option.partition(".")[0] in known}


def expand_preset(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with `preset` replaced by its options, overridden by the other ones; UsageError for an unknown preset."""
    presets = find_strategy(name).presets
    preset: Any = options.get(PRESET)
    if preset is not None and not (isinstance(preset, str) and preset in presets):
        raise UsageError(f"{name} has no preset {truncate_line(repr(preset), MAX_QUOTED_CHARS)}", f"it has {_join_names(presets)}")
    return {**(presets[preset] if preset is not None else {}), **{key: value for key, value in options.items() if key != PRESET}}


def max_calls(name: str, settings: Settings, arguments: Mapping[str, Any] = MappingProxyType({})) -> MaxCalls | None:
    """Return the maximum cost of a question with these settings and arguments of the wiring; None if unknown."""
    strategy = find_strategy(name)
    if strategy.max_calls is None:
        return None
    values = {key: arguments.get(key, parameter.default) for key, parameter in strategy.parameters.items()}
    most = strategy.max_calls(settings, **values)
    concludes = shared_wiring(name, **values).final_call
    writing = 0 if concludes else writing_calls(settings)
    checking = int(settings.style in ("auto", "full") and settings.check == MODEL and bool(concludes or writing))
    calls = most.calls + writing + checking
    return most._replace(calls=calls if settings.max_calls is None else min(calls, settings.max_calls))


def describe_max_calls(name: str, options: Mapping[str, Any]) -> str:
    """Return a sentence with the maximum cost of a question with these options."""
    _, settings = configure(name, options)
    return f"{name}: {max_calls(name, settings, expand_preset(name, options)) or UNBOUNDED}"


def _nest_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Convert dotted option names to nested dicts: search.seeds=3 becomes search={"seeds": 3}."""
    nested: dict[str, Any] = {}
    for key, value in options.items():
        name, dot, rest = key.partition(".")
        if not dot:
            nested[name] = {**nested[name], **value} if isinstance(nested.get(name), dict) and isinstance(value, dict) else value
            continue
        group = nested.setdefault(name, {})
        if not isinstance(group, dict):
            raise UsageError(f"{key!r} and {name!r} are both given", "give one of them")
        nested[name] = {**group, rest: value}
    return nested


def _argument(parameter: inspect.Parameter, value: Any) -> Any:
    annotation = parameter.annotation
    try:
        return TypeAdapter(annotation).validate_python(value)
    except ValidationError:
        allowed = get_args(annotation) if get_origin(annotation) is Literal else ("true", "false")
        raise UsageError(
            f"{parameter.name}={truncate_line(repr(value), MAX_QUOTED_CHARS)} is not valid", f"choose one of {_join_names(allowed)}"
        ) from None


def _suggestion(wrong: str, names: Iterable[str]) -> str:
    close = get_close_matches(wrong, names, 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _join_names(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names)) or "none"
