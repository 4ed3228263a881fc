"""The settings in docs/reference.md: every setting and argument."""

from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo

import ramify.graphs as graphs
from ramify.graphs.strategies import find_strategy
from ramify.nodes.settings import Settings

HEAD = """## Settings

A *setting* is a number, a threshold or a name. An *argument* changes the graph of a strategy: its steps and the edges between them.
Both are given the same way: `ramify ask … --set tau=0.9 --set joint=false`, or in Python `ask(question, tau=0.9, joint=False)`.
`ramify settings STRATEGY` also prints how many model calls a question may take with these settings.
Terms such as *fork* and *hop* are explained under [terms](developing.md#terms).
"""
NOTES = {
    "prune": """*Joint* and *staged* are two graphs of this strategy. Joint, the default: one call answers a branch or proposes
sub-questions or names to look up. Staged (`joint=false`): one call for each, first to answer, then to decompose, then to name. The answers
are combined by one last call (`backtrace=single`), or branch by branch from the leaves to the root (`backtrace=recursive`).
""",
}
"""What stands above the tables of a strategy."""


def section() -> str:
    """Write the section."""
    parts = [HEAD, "### Every strategy\n", *_table(Settings.model_fields)]
    for name in graphs.STRATEGIES:
        fields = graphs.build(name).settings.model_fields
        own = {key: field for key, field in fields.items() if _told(field) != _told(Settings.model_fields.get(key))}
        parts += ["", f"### {name}\n", *([NOTES[name]] if name in NOTES else []), *(_table(own) if own else ["No settings of its own."])]
        if arguments := find_strategy(name).parameters:
            parts += ["", "| argument | default | what it does |", "|---|---|---|"]
            parts += [f"| `{key}` | `{value.default}` | {find_strategy(name).arguments.get(key, '')} |" for key, value in arguments.items()]
    return "\n".join(parts) + "\n"


def _table(fields: dict[str, FieldInfo]) -> Iterator[str]:
    yield "| setting | default | what it does |"
    yield "|---|---|---|"
    for name, field in fields.items():
        yield f"| `{name}` | `{field.default}` | {field.description} |"


def _told(field: FieldInfo | None) -> tuple[Any, Any]:
    return (field.default, field.description) if field else (None, None)
