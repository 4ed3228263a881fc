"""The settings of the strategies as JSON, for forms: what `ramify settings` prints."""

from typing import Any, Literal, get_args, get_origin

from ramify.graphs.strategies import STRATEGIES, Strategy, arguments_of, build
from ramify.nodes.settings import Settings
from ramify.studio.serve.catalog import OF_THE_SERVER, Catalog

_SHAPE = ("type", "anyOf", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "examples")
"""What of a JSON schema says which values a setting can have."""


def strategies_json(catalog: Catalog) -> list[dict[str, Any]]:
    """Describe every strategy with its settings and the arguments of its graph, the default first."""
    names = sorted(STRATEGIES, key=lambda name: name != catalog.strategy)
    return [_strategy(STRATEGIES[name], catalog) for name in names]


def _strategy(strategy: Strategy, catalog: Catalog) -> dict[str, Any]:
    return {
        "name": strategy.name,
        "description": strategy.description,
        "paper": strategy.paper,
        "presets": list(strategy.presets),
        "settings": [*_settings(strategy.name, catalog), *_arguments(strategy, catalog)],
    }


def _settings(name: str, catalog: Catalog) -> list[dict[str, Any]]:
    """List the settings that a request may give, those of its own before those that every strategy has."""
    kind = build(name).settings
    common, properties = Settings.model_fields, kind.model_json_schema()["properties"]
    found = [
        {
            "name": key,
            "default": catalog.options.get(key, field.default),
            "description": field.description or "",
            "common": key in common and common[key].default == field.default,
            "schema": {part: properties[key][part] for part in _SHAPE if part in properties[key]},
        }
        for key, field in kind.model_fields.items()
        if key not in OF_THE_SERVER
    ]
    return sorted(found, key=lambda setting: bool(setting["common"]))


def _arguments(strategy: Strategy, catalog: Catalog) -> list[dict[str, Any]]:
    """List what changes the graph."""
    return [
        {
            "name": name,
            "default": catalog.options.get(name, parameter.default),
            "description": strategy.arguments.get(name, ""),
            "common": False,
            "schema": _choices(parameter.annotation),
        }
        for name, parameter in arguments_of(strategy.name).items()
    ]


def _choices(annotation: Any) -> dict[str, Any]:
    return {"enum": list(get_args(annotation))} if get_origin(annotation) is Literal else {"type": "boolean"}
