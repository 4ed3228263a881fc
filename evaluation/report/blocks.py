"""What a report is made of; Markdown and HTML are two ways to write the same blocks."""

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal
from urllib.parse import urlencode

from markupsafe import Markup

from ramify.evaluation.rows import RESULTS
from ramify.tools.errors import UsageError
from ramify.tools.quoting import reveal


@dataclass(frozen=True)
class Where:
    """Which lines a figure is made from."""

    dataset: str | None = None
    strategy: str | None = None
    variant: str | None = None
    type: str | None = None
    outcome: str = ""
    beside: tuple[str, str] | None = None
    """A strategy and variant to look at beside it."""
    won: str = ""
    """Which of the two is the only one that is right: "first" or "second"; empty for all lines."""

    @property
    def link(self) -> str:
        """Give the place in the question browser that shows just these lines."""
        told = {"dataset": self.dataset, "type": self.type, "outcome": self.outcome or None, "won": self.won or None}
        told["first"] = None if self.strategy is None else f"{self.strategy}|{self.variant or ''}"
        told["second"] = "|".join(self.beside) if self.beside else None
        return "#lines?" + urlencode({name: reveal(value) for name, value in told.items() if value is not None})

    @property
    def jq(self) -> str:
        """Give the command that prints just these lines."""
        told = {"dataset": self.dataset, "strategy": self.strategy, "variant": self.variant, "type": self.type}
        tests = [f".{name} == {json.dumps(value)}" for name, value in told.items() if value is not None]
        tests += [".error != null"] if self.outcome == "failed" else []
        return f"jq -c {shlex.quote('select(' + ' and '.join(tests) + ')')} {RESULTS}"


@dataclass(frozen=True)
class Cell:
    """A figure or a word in a table."""

    text: str
    detail: str = ""
    """Its interval, or what else is said smaller."""
    where: Where | None = None
    best: bool = False
    head: bool = False


@dataclass(frozen=True)
class Column:
    """A column's title and what it means."""

    title: str
    meaning: str = ""
    words: bool = False
    """Whether it holds words, which are set from the left."""


def words(*titles: str) -> list[Column]:
    """Give columns of words by their titles."""
    return [Column(title, words=True) for title in titles]


@dataclass(frozen=True)
class Table:
    """A table of figures; `lines` is the command that prints what it is made from."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    lines: str = ""


@dataclass(frozen=True)
class Words:
    """Paragraphs."""

    text: str
    kind: Literal["plain", "warning", "command"] = "plain"


@dataclass(frozen=True)
class Points:
    """A list of statements, each with a name or without."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Plot:
    """A drawing; its figures are in a table beside it."""

    svg: Markup
    caption: str

    @classmethod
    def drawn(cls, caption: str, name: str, *given: Any) -> "Plot":
        """Draw a plot by its function in `plots`; UsageError where the library that only reports need is not installed."""
        try:
            plots = import_module("ramify.evaluation.report.plots")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "matplotlib":
                raise
            raise UsageError("a report draws with matplotlib, which is not installed", "pip install 'ramify-rag[eval]'") from error
        return cls(getattr(plots, name)(*given), caption)


Block = Table | Words | Points | Plot


@dataclass(frozen=True)
class Section:
    """A part of the report; `name` is its anchor."""

    name: str
    title: str
    blocks: Sequence[Block]


def sections_of(*parts: tuple[str, str, Iterable[Block]]) -> list[Section]:
    """Give the parts, each by its name, title and blocks, that have something to say."""
    return [Section(name, title, blocks) for name, title, told in parts if (blocks := list(told))]
