"""What was found where metadata are degraded, averaged over the drawings: a line a question, for each system at each share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ramify.evaluation.results.run import Line, Run
from ramify.evaluation.searching.degraded_cells import MISSING, NOISE, SYSTEM, SYSTEMS, UNREAD, WHOLE


class Point(NamedTuple):
    """A way to degrade, and the share of documents that it meets."""

    degraded: str = WHOLE
    share: float = 0.0

    @property
    def title(self) -> str:
        """Write it as the head of a column."""
        return f"{self.degraded} {100 * self.share:g} %" if self.share else "clean"


CLEAN = Point()


@dataclass(frozen=True)
class Means:
    """The averaged lines of a data set."""

    dataset: str
    lines: Sequence[Line]

    @cached_property
    def _found(self) -> dict[tuple[str, Point], list[Line]]:
        drawn: dict[tuple[str, Point, str], list[Line]] = {}
        for line in self.lines:
            drawn.setdefault((line.row[SYSTEM], Point(line.row["degraded"], line.row["share"]), line.row["id"]), []).append(line)
        found: dict[tuple[str, Point], list[Line]] = {}
        for (system, point, _), lines in sorted(drawn.items()):
            found.setdefault((system, point), []).append(_mean(lines))
        return found

    @property
    def systems(self) -> list[str]:
        """List the systems that were measured, in their order."""
        there = {system for system, _ in self._found}
        return [system for system in SYSTEMS if system in there]

    @property
    def points(self) -> list[Point]:
        """List the points: whole metadata, then less and less of them, then more and more that are wrong."""
        return [CLEAN, *self.along(MISSING)[1:], *self.along(NOISE)[1:]]

    def along(self, degraded: str) -> list[Point]:
        """List the points of a way to degrade, from whole metadata on."""
        return [CLEAN, *sorted({point for _, point in self._found if point.degraded == degraded})]

    def of(self, system: str, point: Point, type: str | None = None) -> list[Line]:
        """Give the lines of a system at a point, of all questions or of a type; a system that reads no metadata is everywhere alike."""
        found = self._found.get((system, CLEAN if system in UNREAD else point), [])
        return found if type is None else [line for line in found if line.row["type"] == type]

    @property
    def types(self) -> list[str]:
        """List the types of questions where there are several."""
        found = sorted({str(line.row["type"]) for line in self.lines})
        return found if len(found) > 1 else []

    @property
    def draws(self) -> int:
        """Count the drawings, the most of any cell."""
        return max(int(line.row["draw"]) for line in self.lines)


def means(run: Run) -> list[Means]:
    """Average the lines of each data set that has such lines."""
    found: dict[str, list[Line]] = {}
    for line in run.degraded:
        found.setdefault(line.row["dataset"], []).append(line)
    return [Means(dataset, lines) for dataset, lines in found.items()]


def _mean(lines: Sequence[Line]) -> Line:
    """Average the scores of the drawings of a question; one that no drawing has stays none."""
    scored: list[dict[str, Any]] = [line.row["retrieval"] for line in lines if line.row.get("retrieval")]
    names = dict.fromkeys(name for one in scored for name in one)
    values = {name: [one[name] for one in scored if one.get(name) is not None] for name in names}
    told = {name: float(np.mean(given)) if given else None for name, given in values.items()}
    row = {name: lines[0].row.get(name) for name in ("dataset", "id", "type", "gold_documents", "error", "em")}
    return Line(lines[0].number, {**row, "type": row["type"] or "", "retrieval": told or None})
