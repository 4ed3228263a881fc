"""Declaration of a paper: its setup, runs, tables, figures and claims."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ramify.graphs.strategies import STRATEGIES
from ramify.lab.load import DEMO_DATASET
from ramify.lab.plan import RunOptions
from ramify.lab.results.measures import Measure
from ramify.nodes.settings import Settings
from ramify.tools.errors import UsageError
from ramify.tools.index.hnsw import MAX_SCANNED

PAPER_PRESET: dict[str, Any] = {"preset": "paper"}
MODEL_OPTIONS = ("model", "base_url", "adapter")
JudgedCondition = tuple[str, str]
"""A strategy and its variant."""
EXACT_SEARCH = f"Up to {MAX_SCANNED:,} vectors are all compared, which is exact; only a larger index has an HNSW graph."
PROMPTS = (
    "The prompts are ours: replies are JSON of a given form, with a sentence of reasoning before a decision (thought=false leaves it out), "
    f"after up to {Settings().shots} worked examples (shots=0: none)."
)
"""Deviations of every paper, and of those that call a model."""


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper's table: name, strategy and variant that are run, and the paper's figures, one per measure (empty if not given)."""

    name: str
    strategy: str
    variant: str = ""
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper, or one that reports what the paper leaves open."""

    title: str
    measures: tuple[Measure, ...]
    rows: tuple[PaperRow, ...]
    lead: str = "method"
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper to reproduce: its runs, and the tables and claims that the results are compared with."""

    name: str
    title: str
    about: str
    """Summary of what is measured, in one line."""
    source: str
    """Data and models of the paper's own figures."""
    setup: Mapping[str, str]
    """How it was measured: "model", "retrieval", "data", "questions", "passages", as far as the source says so."""
    runs: tuple[RunOptions, ...]
    """Its runs; `out` is the folder of each below that of the reproduction. Data, limits and models are added."""
    tables: tuple[PaperTable, ...] = ()
    main: str = ""
    """The paper's own strategy, compared with the others of its first table."""
    claims: tuple[tuple[str, str], ...] = ()
    deviations: tuple[str, ...] = ()
    """Differences from the paper that do not depend on the options."""
    left_out: tuple[str, ...] = ()
    """Parts of the paper that are not reproduced."""
    demo: str = DEMO_DATASET
    """The default data set."""
    conditions: Mapping[str, JudgedCondition] = field(default_factory=dict)
    """Conditions whose answers a judge compares pairwise, by the paper's names."""
    builds: tuple[dict[str, Any], ...] = ()
    """Settings with which graphs are built and counted; the runs use the first."""
    group_by: tuple[str, ...] = ()
    """Metadata fields of the demo that a hierarchy is grouped by."""

    @property
    def missing(self) -> list[str]:
        """Return the strategies that are not registered and therefore left out."""
        return [name for run in self.runs for name in run.strategies if name not in STRATEGIES]

    def run_options(
        self, out: Path, datasets: Sequence[str] = (), options: Mapping[str, Any] | None = None, **more: Any
    ) -> list[RunOptions]:
        """Return the options of its runs below a folder; `options` override the paper's, `more` are further fields of `RunOptions`."""
        unregistered, overrides = set(self.missing), options or {}
        return [
            run.model_copy(
                update={
                    "datasets": tuple(datasets or [self.demo]),
                    "strategies": tuple(name for name in run.strategies if name not in unregistered),
                    "options": {
                        **run.options,
                        **{key: value for key, value in overrides.items() if run.strategies or key not in MODEL_OPTIONS},
                    },
                    "out": out / run.out,
                    **more,
                    **self._grouping_fields(run, datasets, more),
                }
            )
            for run in self.runs
        ]

    def _grouping_fields(self, run: RunOptions, datasets: Sequence[str], more: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that a hierarchy is grouped by, which are also labels; empty for other papers."""
        if not run.metadata_shares:
            return {"group_by": ()}
        fields = tuple(more.get("group_by") or (() if datasets else self.group_by))
        if not fields:
            raise UsageError("no metadata fields to group the documents by are known", "name them with --group-by, as in chapter,section")
        return {"group_by": fields, "label": fields}


def paper_run(name: str, strategies: Iterable[str] = (), **more: Any) -> RunOptions:
    """Return the options of a paper's run, in a folder of this name."""
    return RunOptions(datasets=(), strategies=tuple(strategies), out=Path(name), **more)


def find_paper(name: str, papers: Mapping[str, Paper]) -> Paper:
    """Return a paper by name; UsageError if there is none."""
    if name not in papers:
        raise UsageError(f"there is no paper {name!r} to reproduce", f"choose one of {', '.join(papers)}")
    return papers[name]
