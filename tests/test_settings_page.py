"""docs/settings.md tells every setting and argument as it is; RAMIFY_SNAPSHOTS=write writes it anew."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

import ramify.graphs as graphs
from ramify.graphs.strategies import arguments_of, find_strategy
from ramify.nodes.settings import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
HEAD = """# Settings

A setting is a number, a threshold or a name; an argument changes the graph. Both are given the same way:
`ramify ask … --set tau=0.9 --set joint=false`, `ask(question, tau=0.9, joint=False)`.
The calls that a setting may cost at most: `ramify settings STRATEGY`.
"""


def page() -> str:
    """Write the page."""
    parts = [HEAD, "## Every strategy\n", *_table(Settings.model_fields)]
    for name in graphs.STRATEGIES:
        fields = graphs.build(name).settings.model_fields
        own = {key: field for key, field in fields.items() if _told(field) != _told(Settings.model_fields.get(key))}
        parts += ["", f"## {name}\n", *(_table(own) if own else ["Nothing beside what every strategy has."])]
        if arguments := arguments_of(name):
            parts += ["", "| argument | default | what it does |", "|---|---|---|"]
            parts += [f"| `{key}` | `{value.default}` | {find_strategy(name).arguments[key]} |" for key, value in arguments.items()]
    return "\n".join(parts) + "\n"


def _table(fields: dict[str, FieldInfo]) -> Iterator[str]:
    yield "| setting | default | what it does |"
    yield "|---|---|---|"
    for name, field in fields.items():
        yield f"| `{name}` | `{field.default}` | {field.description} |"


def _told(field: FieldInfo | None) -> tuple[Any, Any]:
    return (field.default, field.description) if field else (None, None)


def test_the_page_is_true() -> None:
    if os.environ.get("RAMIFY_SNAPSHOTS") == "write":
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_setting_has_a_description() -> None:
    assert all(field.description for name in graphs.STRATEGIES for field in graphs.build(name).settings.model_fields.values())
