"""What is declared of a paper: its runs, tables, figures and claims, and how it was measured."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ramify.evaluation.plan import Order
from ramify.evaluation.results.measures import Measure
from ramify.graphs.strategies import STRATEGIES
from ramify.tools.errors import UsageError

PAPER_PRESET: dict[str, Any] = {"preset": "paper"}
DEMO = "demo"
MODEL_OPTIONS = ("model", "base_url")
Condition = tuple[str, str]
"""A strategy and its variant."""


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper's table: its name there, what we run for it, and the paper's figures, one a measure; empty: not given."""

    name: str
    strategy: str
    variant: str = ""
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, or one that it would have had."""

    title: str
    measures: tuple[Measure, ...]
    rows: tuple[PaperRow, ...]
    lead: str = "method"
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper, as data: what is run for it, and what is reported beside what it reports."""

    name: str
    title: str
    about: str
    """What is measured, in a line."""
    source: str
    """On what its own figures were measured."""
    setup: Mapping[str, str]
    """How it was measured: "model", "retrieval", "data", "questions", "passages", as far as the source says."""
    runs: tuple[Order, ...]
    """Its runs, `out` being the folder of each below that of the reproduction; data, limits and models are added to them."""
    tables: tuple[PaperTable, ...] = ()
    main: str = ""
    """The paper's own strategy, which is compared with the others of its first table."""
    claims: tuple[tuple[str, str], ...] = ()
    deviations: tuple[str, ...] = ()
    """Where we differ whatever is run."""
    left_out: tuple[str, ...] = ()
    """What the paper has and this command does not do."""
    demo: str = DEMO
    """The data if none are named."""
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    """What a judge compares, each with each, by the paper's names."""
    builds: tuple[dict[str, Any], ...] = ()
    """Ways to build the graph, whose contents are counted; the first is that of the runs."""
    group_by: tuple[str, ...] = ()
    """Metadata of the demo that a hierarchy is grouped by."""

    @property
    def missing(self) -> list[str]:
        """Return the strategies that are not registered, and are left out."""
        return [name for order in self.runs for name in order.strategies if name not in STRATEGIES]

    def orders(self, out: Path, datasets: Sequence[str] = (), options: Mapping[str, Any] | None = None, **more: Any) -> list[Order]:
        """Return the orders of its runs below a folder; `options` override the paper's, `more` are further fields of an order."""
        missing, given = set(self.missing), options or {}
        return [
            order.model_copy(
                update={
                    "datasets": tuple(datasets or [self.demo]),
                    "strategies": tuple(name for name in order.strategies if name not in missing),
                    "options": {
                        **order.options,
                        **{key: value for key, value in given.items() if order.strategies or key not in MODEL_OPTIONS},
                    },
                    "out": out / order.out,
                    **more,
                    **self._grouped(order, datasets, more),
                }
            )
            for order in self.runs
        ]

    def _grouped(self, order: Order, datasets: Sequence[str], more: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that a hierarchy is grouped by, which are searched under, too; nothing for other papers."""
        if not order.degrade:
            return {"group_by": ()}
        fields = tuple(more.get("group_by") or (() if datasets else self.group_by))
        if not fields:
            raise UsageError("which metadata group these documents is not known", "name them with --group-by, as in chapter,section")
        return {"group_by": fields, "label": fields}


def run(name: str, strategies: Iterable[str] = (), **more: Any) -> Order:
    """Declare a run of a paper in a folder of this name."""
    return Order(datasets=(), strategies=tuple(strategies), out=Path(name), **more)


def find_paper(name: str, papers: Mapping[str, Paper]) -> Paper:
    """Return a paper by name; UsageError where there is none."""
    if name not in papers:
        raise UsageError(f"there is no paper {name!r} to reproduce", f"choose one of {', '.join(papers)}")
    return papers[name]
