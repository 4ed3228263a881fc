"""A strategy as every door reads it: its name, its wiring and settings, what it is, its paper, and what it can cost at most."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ramify.graphs.wiring import Wiring
from ramify.nodes.settings import Settings
from ramify.tools.quoting import many


class Ceiling(NamedTuple):
    """Model calls, how many of them one after another, and searches."""

    calls: int
    critical_path: int
    retrievals: int

    def __str__(self) -> str:
        order = f" (of which {self.critical_path:,} one after another)" if self.critical_path < self.calls else ""
        return f"at most {many(self.calls, 'model call')}{order} and {many(self.retrievals, 'search', 'searches')}"


@dataclass(frozen=True)
class Strategy:
    """A strategy; `graphs.register` makes it known."""

    name: str
    build: Callable[..., Wiring[Any]]
    """Makes its wiring; what can be drawn otherwise is an argument."""
    description: str = ""
    """What it does, in a line, as the lists of assistants and tools show it."""
    paper: str = ""
    """Where it is from."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What the arguments of `build` do."""
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options that belong together, by name: `paper` is the paper's own way."""
    ceiling: Callable[..., Ceiling] | None = None
    """The most that a question can cost, of its settings and arguments; None where it is not known."""

    @property
    def settings(self) -> type[Settings]:
        """The class of its settings."""
        kind: type[Settings] = self.build().settings
        return kind
