"""A run as its report sees it: the manifest, and the lines in their groups."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ramify.evaluation.rows import Row


@dataclass(frozen=True)
class Line:
    """A line of results.jsonl, with its number."""

    number: int
    row: Row

    @property
    def group(self) -> tuple[str, str, str]:
        """Name the data set, strategy and variant it belongs to."""
        return self.row["dataset"], self.row["strategy"], self.row.get("variant") or ""

    @property
    def failed(self) -> bool:
        """Tell whether no answer came."""
        return self.row.get("error") is not None

    @property
    def searched(self) -> bool:
        """Tell whether nothing was asked: passages were searched for, and that is all."""
        return not self.failed and not self.scored and not self.row.get("answer")

    @property
    def scored(self) -> bool:
        """Tell whether there is a gold answer to score the answer by."""
        return self.row.get("em") is not None

    @property
    def right(self) -> bool:
        """Tell whether the answer is the gold one, word for word after normalisation."""
        return not self.failed and (self.row.get("em") or 0) >= 1

    @property
    def outcome(self) -> str:
        """Say what came of the question; an abstention that was right is right, and where none is known, an answer is but one."""
        if self.failed or self.searched:
            return "failed" if self.failed else "searched"
        if self.right:
            return "right"
        return "abstained" if self.row.get("abstained") else "wrong" if self.scored else "answered"


@dataclass(frozen=True)
class Run:
    """A run, read."""

    folder: Path
    manifest: dict[str, Any]
    lines: tuple[Line, ...]
    warnings: tuple[str, ...] = ()
    degraded: tuple[Line, ...] = ()
    """Those of searching where metadata are degraded, which are too many to stand among the others."""

    @cached_property
    def groups(self) -> dict[tuple[str, str, str], list[Line]]:
        """Give the lines by data set, strategy and variant, in the manifest's order, each in the order of its questions."""
        found: dict[tuple[str, str, str], list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.group, []).append(line)
        return {group: sorted(found[group], key=lambda line: str(line.row["id"])) for group in sorted(found, key=self._place)}

    def _place(self, group: tuple[str, str, str]) -> tuple[Any, ...]:
        dataset, strategy, variant = group
        variants = [(one.get("strategy"), one.get("variant") or "") for one in self.manifest["variants"]]
        return (
            _index([one.get("name") for one in self.manifest["datasets"]], dataset),
            _index(self.manifest["strategies"], strategy),
            _index(variants, (strategy, variant)),
        )

    @property
    def datasets(self) -> list[str]:
        """List the data sets that have lines."""
        return list(dict.fromkeys(dataset for dataset, _, _ in self.groups))

    @property
    def scored(self) -> list[str]:
        """List the data sets that have gold answers."""
        return [dataset for dataset in self.datasets if any(line.scored for lines in self.of(dataset).values() for line in lines)]

    def of(self, dataset: str) -> dict[str, list[Line]]:
        """Give the answers to a data set by strategy, at the run's own settings."""
        return {group[1]: lines for group, lines in self.answered.items() if group[0] == dataset and not group[2]}

    @cached_property
    def answered(self) -> dict[tuple[str, str, str], list[Line]]:
        """Give the groups that were asked for answers."""
        return {group: lines for group, lines in self.groups.items() if not all(line.searched for line in lines)}

    @cached_property
    def searched(self) -> dict[tuple[str, str, str], list[Line]]:
        """Give the groups that were only searched for."""
        return {group: lines for group, lines in self.groups.items() if group not in self.answered}

    def described(self, dataset: str) -> dict[str, Any]:
        """Give what the manifest says of a data set; nothing where it does not name it."""
        return next((one for one in self.manifest["datasets"] if one.get("name") == dataset), {})

    def by_facts(self, dataset: str) -> bool:
        """Tell whether the data set counts retrieved facts, as MultiHop-RAG does."""
        return bool(self.described(dataset).get("hits_by") == "fact")


def _index(values: list[Any], value: Any) -> tuple[int, str]:
    return (values.index(value) if value in values else len(values)), str(value)
