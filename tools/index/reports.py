"""Reports on communities or summaries of groups, by level, for questions about the whole corpus."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, Protocol

Subject = Literal["community", "summary"]


class ReportNames(NamedTuple):
    """Names of a report in the singular and plural, and of the heading of its sentences in an answer."""

    one: str
    several: str
    under: str


REPORT_NAMES: dict[str, ReportNames] = {
    "community": ReportNames("report", "reports", "the names of its community"),
    "summary": ReportNames("summary", "summaries", "the name of its group"),
}
_ID = re.compile(rf"({'|'.join(REPORT_NAMES)}) (\d+(?:\.\d+)*)")


class ReportFinding(NamedTuple):
    """A statement of a report, and the ids of the passages that support it."""

    text: str
    passages: tuple[str, ...]


class Report(NamedTuple):
    """A report on a community, or the summary of a group."""

    community: str
    title: str
    summary: str
    rating: float
    """Importance, from 0 to 10."""
    findings: tuple[ReportFinding, ...]
    made_by: str
    """The model that wrote it, or "extractive": sentences quoted from the documents."""
    digest: str
    """Digest of its material; a report is reused while that is unchanged; "" for a summary."""

    @property
    def text(self) -> str:
        """Return title, summary and findings, one per line."""
        return "\n".join(filter(None, (self.title, self.summary, *(finding.text for finding in self.findings))))

    @property
    def passages(self) -> tuple[str, ...]:
        """Return the ids of the supporting passages, each once."""
        return tuple(dict.fromkeys(passage for finding in self.findings for passage in finding.passages))


class ReportLevel(NamedTuple):
    """A level: its number, its reports or summaries, and the tokens of their texts."""

    number: int
    communities: int
    tokens: int


class Reports(Protocol):
    """Reports or summaries by level; level 0 is the root, and each level is numbered by size."""

    @property
    def subject(self) -> Subject:
        """Return the type of the reports: "community" or "summary"."""

    @property
    def levels(self) -> Sequence[ReportLevel]:
        """Return the levels."""

    def reports(self, level: int) -> list[Report]:
        """Return the reports of a level; UsageError if there is no such level."""

    def by_ids(self, ids: Iterable[str]) -> list[Report]:
        """Return the reports of some numbers; unknown numbers are skipped."""


def report_id(subject: Subject, number: str) -> str:
    """Return the citation id of a report, distinct from those of passages."""
    return f"{subject} {number}"


def parse_report_id(id: str) -> tuple[ReportNames, str] | None:
    """Return the names and the number of a report's citation id; None for the id of a passage."""
    match = _ID.fullmatch(id)
    return (REPORT_NAMES[match[1]], match[2]) if match else None
