"""The strategies by name, and how an option finds its place: a setting, or an argument of the wiring."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from ramify.graphs import chain, closed_book, global_search, iterative, naive, prune, tor
from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import Settings
from ramify.nodes.settings.settings import QUOTED
from ramify.tools.errors import UsageError
from ramify.tools.quoting import brief

STRATEGIES: dict[str, Callable[..., Wiring[Any]]] = {
    "prune": prune.build,
    "tor": tor.build,
    "iterative": iterative.build,
    "chain": chain.build,
    "naive": naive.build,
    "global": global_search.build,
    "closed-book": closed_book.build,
}
DEFAULT = "prune"
MEANINGS = {
    "joint": "one call a branch answers, decomposes or names entities; false: one after another (staged)",
    "backtrace": "single: one final call over the tree; recursive: branch by branch from the leaves up",
    "adaptive": "false: always decompose (ablation)",
    "answers": "false: never answer before the depth limit (ablation)",
    "confidence": "false: accept any answer, whatever its confidence (ablation)",
    "entities": "false: never look up single names (ablation)",
    "rubric": "true: judge each pair of sub-questions before anything is retrieved for it",
    "judged": "false: keep every fork, unjudged (ablation)",
}
"""What the arguments of the wirings do."""


def build(name: str = DEFAULT, **arguments: Any) -> Wiring[Any]:
    """Wire a strategy by name; UsageError for an unknown name or argument."""
    builder = _builder(name)
    if unknown := arguments.keys() - inspect.signature(builder).parameters.keys():
        raise UsageError(f"{name} has no argument {sorted(unknown)[0]!r}", f"it has {_listed(arguments_of(name))}")
    return builder(**arguments)


def arguments_of(name: str) -> dict[str, inspect.Parameter]:
    """List the arguments of a strategy's wiring."""
    return dict(inspect.signature(_builder(name)).parameters)


@cache
def shared(name: str, **arguments: Any) -> Wiring[Any]:
    """Wire a strategy once for the same arguments: to add to a wiring, take one from `build`."""
    return build(name, **arguments)


def configure(name: str, options: Mapping[str, Any], wire: Callable[..., Wiring[Any]] = shared) -> tuple[Wiring[Any], Settings]:
    """Give the wiring and the settings that the options ask for; UsageError for an option that is neither, or a bad value."""
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


def _builder(name: str) -> Callable[..., Wiring[Any]]:
    if name not in STRATEGIES:
        raise UsageError(f"there is no strategy {name!r}", _meant(name, STRATEGIES) or f"choose one of {_listed(STRATEGIES)}")
    return STRATEGIES[name]


def _meant(wrong: str, names: Iterable[str]) -> str:
    close = get_close_matches(wrong, names, 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _listed(names: Any) -> str:
    return ", ".join(map(str, names)) or "none"
