"""A report of each community: what it is made from (GraphRAG §1), and one quoted from the documents without a model."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ramify.tools.knowledge.communities import Community
from ramify.tools.knowledge.elements import Claim, Pair, Told
from ramify.tools.knowledge.graph import is_prose
from ramify.tools.quoting import brief

QUOTED = "extractive"
_EDITION = "3"
"""Counts up when the same material gives another report."""
_MOST_WORDS = 300
_WORDS = 5
"""Words of a quoted report for each doubling of its community."""
_HEARD = 2
"""So often a name is told of before others are preferred."""
_TITLED, _LONGEST_NAME = 3, 30
"""Names in the title of a quoted report, at most a third of them all, and the characters of each."""
_FEW = 3
"""Names of a community on which there is but one thing to say, briefly: a corpus has many of these."""
_HIGHEST = 10.0


class Finding(NamedTuple):
    """Something a report says, and the passages it rests on."""

    text: str
    passages: tuple[str, ...]


class Report(NamedTuple):
    """What there is to say of a community."""

    community: str
    title: str
    summary: str
    rating: float
    """How much it matters, 0 to 10."""
    findings: tuple[Finding, ...]
    made_by: str
    """The model that wrote it, or "extractive": sentences quoted from the documents."""
    digest: str
    """Of what it is made from: a report whose material is as it was is not made again."""

    @property
    def text(self) -> str:
        """Write it out."""
        return "\n".join(filter(None, (self.title, self.summary, *(finding.text for finding in self.findings))))

    @property
    def passages(self) -> tuple[str, ...]:
        """List the passages it rests on, each once."""
        return tuple(dict.fromkeys(passage for finding in self.findings for passage in finding.passages))


class Edge(NamedTuple):
    """A relation as it is told of."""

    pair: Pair
    times: int
    told: Told


class Material(NamedTuple):
    """What a report is made from."""

    community: Community
    names: Mapping[str, str]
    """How its members are written, the most connected first."""
    entities: Mapping[str, Told]
    """What is said of its members."""
    edges: tuple[Edge, ...]
    """The relations among its members, by the combined degree of both ends, descending."""
    claims: tuple[Claim, ...]
    parts: tuple["Part", ...] = ()
    """Its sub-communities."""

    @property
    def digest(self) -> str:
        """Hash it."""
        parts = [part.report.digest for part in self.parts]
        said = [_EDITION, self.community.members, self.names, self.entities, self.edges, self.claims, parts]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    def lines(self, among: Sequence[str] | None = None) -> list[Told]:
        """List what is known as the seed fills a window: edge by edge both ends, claims on them, the edge; or only `among` some names."""
        inside = None if among is None else frozenset(among)
        told: dict[Told, None] = {}
        for edge in self.edges:
            if inside is not None and not inside.issuperset(edge.pair):
                continue
            for key in edge.pair:
                if key in self.entities:
                    told[_line(self.names[key], self.entities[key])] = None
                for claim in self.claims:
                    if claim.subject == key:
                        told[Told(f"{self.names[key]}: {claim.description}", claim.passage)] = None
            if edge.told.text:
                told[_line(" – ".join(self.names[key] for key in edge.pair), edge.told)] = None
        return list(told)


class Part(NamedTuple):
    """A sub-community with its report."""

    community: Community
    report: Report


def _line(name: str, told: Told) -> Told:
    return Told(f"{name}: {told.text}" if told.text else name, told.passage)


def fill(material: Material, window: int, count: Callable[[str], int]) -> tuple[list[Told], bool]:
    """Fill a window of so many tokens: a leaf until it is full; of a community with parts, parts become their reports until all fits.

    The largest parts first, as the seed has it. Tells as well whether something was left out.
    """
    lines = material.lines()
    if _size(lines, count) <= window or not material.parts:
        return _cut(lines, window, count)
    whole = {part.community.id: material.lines(part.community.members) for part in material.parts}
    inside = {line for part in whole.values() for line in part}
    between = [line for line in lines if line not in inside]
    reported: dict[str, list[Told]] = {}
    for part in sorted(material.parts, key=lambda part: (-_size(whole[part.community.id], count), part.community.id)):
        shown = [line for one in material.parts for line in reported.get(one.community.id, whole[one.community.id])]
        if _size([*shown, *between], count) <= window:
            break
        reported[part.community.id] = _told(part.report)
    shown = [line for one in material.parts for line in reported.get(one.community.id, whole[one.community.id])]
    return _cut([*shown, *between], window, count)


def _told(report: Report) -> list[Told]:
    head = report.passages[0] if report.passages else ""
    return [
        Told(f"{report.title}. {report.summary}".strip(), head),
        *(Told(one.text, one.passages[0]) for one in report.findings if one.passages),
    ]


def _size(lines: Sequence[Told], count: Callable[[str], int]) -> int:
    return sum(count(line.text) for line in lines)


def _cut(lines: Sequence[Told], window: int, count: Callable[[str], int]) -> tuple[list[Told], bool]:
    kept: list[Told] = []
    left = window
    for line in lines:
        left -= count(line.text)
        if left < 0 and kept:
            return kept, True
        kept.append(line)
    return kept, False


def quoted_report(material: Material) -> Report:
    """Report on a community in sentences of its documents: those that tell of its most connected names, of each not too often."""
    room = min(_MOST_WORDS, round(_WORDS * math.log2(max(2, len(material.community.members)))))
    heard: Counter[str] = Counter()
    findings: dict[str, Finding] = {}
    edges = [edge for edge in material.edges if is_prose(edge.told.text)] or [edge for edge in material.edges if edge.told.text][:1]
    if len(material.community.members) <= _FEW:
        edges = sorted(edges, key=lambda edge: len(edge.told.text))[:1]
    for edge in edges:
        text, length = edge.told.text, len(edge.told.text.split())
        if text in findings or (findings and (length > room or any(heard[key] >= _HEARD for key in edge.pair))):
            continue
        findings[text] = Finding(text, (edge.told.passage,))
        heard.update(edge.pair)
        room -= length
        if room <= 0:
            break
    return Report(
        community=material.community.id,
        title=", ".join(
            brief(name, _LONGEST_NAME) for name in list(material.names.values())[: min(_TITLED, max(1, len(material.names) // 3))]
        ),
        summary="",
        rating=min(_HIGHEST, round(math.log2(len(material.community.members)), 1)),
        findings=tuple(findings.values()),
        made_by=QUOTED,
        digest=material.digest,
    )
