"""How what an index holds is put for a reader, on the terminal and on the page."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ramify.studio.inspection.contents import Inspection
from ramify.studio.inspection.group_phrases import group_sizes
from ramify.tools.index.location import is_address
from ramify.tools.index.manifest import WHOLE
from ramify.tools.index.searcher import left_out
from ramify.tools.knowledge.overview import Inside
from ramify.tools.knowledge.reports import QUOTED
from ramify.tools.quoting import one_line

LARGEST = 10
"""Communities that are named."""
NONE = "—"
LEVELS = ("level", "communities", "tokens of reports", "of the text", "Q", "the paper's share")
CORPORA = ("corpus", "tokens", "units", "names", "connections")
PAPER_SHARES = {0: "under 3 %", 3: "67–74 %"}
"""Tokens of a level's reports as a share of the source text's, which the paper gives as savings: over 97 %, 26–33 %."""
PAPER_CORPORA = (("podcasts", "~1 million", "1,669", "8,564", "20,691"), ("news", "~1.7 million", "3,197", "15,754", "19,520"))
NOTES = (
    "C0 is the root level, Q the modularity of a level, TS the text of all searched passages; tokens are estimated, of both alike.",
    "The paper is Edge et al. 2024, From Local to Global: its C3 is its lowest level, its units are 600 tokens long, ours are passages.",
)


class Table(NamedTuple):
    """A table: its heads, and its rows, each with the place on a page that it leads to, if any."""

    heads: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]

    @classmethod
    def of(cls, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
        """Make a table that leads nowhere."""
        return cls(heads, [("", row) for row in rows])


def sizes(found: Inspection) -> Iterator[tuple[str, str]]:
    """Say what an index holds, thing by thing."""
    manifest = found.manifest
    yield "kind", manifest.kind
    yield "documents", f"{manifest.documents:,}"
    yield "passages", f"{manifest.passages:,} searched{left_out(manifest.hidden)}"
    if manifest.label:
        yield "label", f"{', '.join(manifest.label)}, title and headings: passages are searched under them"
    yield "embedding", f"{manifest.embedding}; passages of at most {manifest.chunk_tokens:,} tokens, {manifest.overlap:,} of them shared"
    if manifest.vectors != WHOLE:
        yield "vectors", f"searched in {manifest.vectors}; scores are counted from whole ones"
    if found.inside is not None:
        yield from _graph(found.inside, manifest.passages)
    if found.grouped is not None:
        yield from group_sizes(found.grouped, found.folder)


def _graph(inside: Inside, passages: int) -> Iterator[tuple[str, str]]:
    alone = f"; {inside.unconnected:,} of them without a connection" if inside.unconnected else ""
    yield "names", f"{len(inside.graph.names):,}, found by {who(inside.facts.get('made_by', ''))}{alone}"
    yield "", f"in {inside.named:,} of {passages:,} passages ({percent(inside.named / max(1, passages))})"
    yield "connections", f"{len(inside.graph.edges):,}"
    if inside.graph.claims:
        yield "claims", f"{len(inside.graph.claims):,}"
    replaced = f", {inside.replaced:,} of them replaced by quotations" if inside.replaced else ""
    yield "reports", f"{len(inside.reports):,}, written by {who(inside.facts.get('reported_by', ''))}{replaced}"
    if inside.unread:
        reasons = sorted({one_line(why) for why in inside.unread.values()})
        yield "not read", f"{len(inside.unread):,} units, the first from {next(iter(inside.unread))}: {reasons[0]}"


def who(name: str) -> str:
    """Name who found names or wrote reports."""
    return "rules (no model)" if name == QUOTED else one_line(name) or "an unknown model"


def percent(share: float) -> str:
    """Write a share; never all where something is missing."""
    return f"{min(share, 0.999):.1%}".replace("%", " %") if share < 1 else f"{share:.0%}".replace("%", " %")


def level_rows(inside: Inside) -> Iterator[tuple[str, ...]]:
    """Write the levels, the root level first, beside those of the paper; the last row is the text itself."""
    sized = {level.number: level for level in inside.levels}
    for number in sorted({*sized, *PAPER_SHARES}):
        level = sized.get(number)
        own = (f"{level.communities:,}", f"{level.tokens:,}", percent(level.share), f"{level.modularity:.2f}") if level else (NONE,) * 4
        yield f"C{number}", *own, PAPER_SHARES.get(number, NONE)
    yield "TS", NONE, f"{inside.tokens:,}", "100 %", NONE, "100 %"


def corpus_rows(found: Inspection) -> Iterator[tuple[str, ...]]:
    """Write how much there is, beside what the paper was tried on."""
    if found.inside is not None:
        graph = found.inside.graph
        yield "this index", f"{found.inside.tokens:,}", f"{found.manifest.passages:,}", f"{len(graph.names):,}", f"{len(graph.edges):,}"
    for name, *figures in PAPER_CORPORA:
        yield f"the paper's {name}", *figures


def largest_rows(inside: Inside) -> Iterator[tuple[str, ...]]:
    """Write the largest communities of level 0."""
    for id in inside.root[:LARGEST]:
        yield f"{inside.size(id):,}", f"{inside.reports[id].rating:g}", one_line(inside.reports[id].title)


def how_to_add(found: Inspection) -> str:
    """Say how a plain index gets a graph or a hierarchy."""
    if is_address(found.folder):
        return "no graph and no hierarchy: an index in a folder can have one"
    added = f"`ramify index --kind graph --out {one_line(found.folder)}` adds one"
    return f"no graph and no hierarchy: {added}, --kind hierarchy the other, without encoding a passage again"
