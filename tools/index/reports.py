"""What sums an index up, level by level, and is read for questions about everything: reports on communities, or summaries of groups."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from ramify.tools.knowledge.reports import Report

Subject = Literal["community", "summary"]


class ReportNames(NamedTuple):
    """What one of them is called, what several are, and under what its sentences stand in an answer."""

    one: str
    several: str
    under: str


REPORT_NAMES: dict[str, ReportNames] = {
    "community": ReportNames("report", "reports", "the names of its community"),
    "summary": ReportNames("summary", "summaries", "the name of its group"),
}
_ID = re.compile(rf"({'|'.join(REPORT_NAMES)}) (\d+(?:\.\d+)*)")


class ReportLevel(NamedTuple):
    """A level: how many there are on it, and the tokens of their texts."""

    number: int
    communities: int
    tokens: int


class Reports(Protocol):
    """Gives them, level by level, level 0 the root, each level's numbered by size."""

    @property
    def subject(self) -> Subject:
        """Name what each is on."""

    @property
    def levels(self) -> Sequence[ReportLevel]:
        """List the levels."""

    def reports(self, level: int) -> "list[Report]":
        """Return those of a level; UsageError where there is no such level."""

    def by_ids(self, ids: Iterable[str]) -> "list[Report]":
        """Return those of some numbers; what is none is passed over."""


def report_id(subject: Subject, number: str) -> str:
    """Write the id that one has beside those of passages."""
    return f"{subject} {number}"


def parse_report_id(id: str) -> tuple[ReportNames, str] | None:
    """Read such an id: what it is called, and its number; None for that of a passage."""
    found = _ID.fullmatch(id)
    return (REPORT_NAMES[found[1]], found[2]) if found else None
