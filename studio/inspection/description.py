"""How what an index holds is put for a reader, on the terminal and on the page: facts, tables and notes; of a graph here."""

from collections.abc import Iterator

from ramify.studio.inspection.contents import Inspection, Table
from ramify.studio.inspection.group_description import SUSPICIOUS, group_facts, group_tables
from ramify.tools.index.location import is_address
from ramify.tools.index.manifest import WHOLE
from ramify.tools.index.searcher import left_out, reasons
from ramify.tools.knowledge.overview import Inside
from ramify.tools.knowledge.reports import QUOTED
from ramify.tools.quoting import one_line

LARGEST = 10
"""Communities that are named."""
CLAIMS = 20
"""Claims that are listed; --json gives all."""
NONE = "—"
PAPER_SHARES = {0: "under 3 %", 3: "67–74 %"}
"""Tokens of a level's reports as a share of the source text's, which the paper gives as savings: over 97 %, 26–33 %."""
PAPER_CORPORA = (("podcasts", "~1 million", "1,669", "8,564", "20,691"), ("news", "~1.7 million", "3,197", "15,754", "19,520"))
NOTES = (
    "C0 is the root level, Q the modularity of a level, TS the text of all searched passages; tokens are estimated, of both alike.",
    "The paper is Edge et al. 2024, From Local to Global: its C3 is its lowest level, its units are 600 tokens long, ours are passages.",
)


def facts(found: Inspection) -> Iterator[tuple[str, str]]:
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
        yield from _graph_facts(found.inside, manifest.passages)
    if found.grouped is not None:
        yield from group_facts(found.grouped, one_line(found.folder))


def tables(found: Inspection) -> list[Table]:
    """Give what there is in figures: the levels, with the corpora of the paper or the groups; of a plain index its files."""
    if found.grouped is not None:
        return group_tables(found.grouped)
    return _graph_tables(found.inside, found.manifest.passages) if found.inside is not None else _file_tables(found)


def _file_tables(found: Inspection) -> list[Table]:
    """Give the files with their passages, and what the last build left out, each where there is any."""
    rows = [
        (f"{one.searched:,}", reasons(one.left_out) or NONE, one_line(one.source) or "(given by a program)")
        for one in sorted(found.listed.files, key=lambda one: (one.source, one.root))
    ]
    held = [Table(("searched", "not searched", "file"), rows, words=(1, 2), long=True)] if rows else []
    unread = (
        [Table(("left out", "why"), [(one_line(name), one_line(why)) for name, why in found.listed.unread], words=(0, 1), long=True)]
        if found.listed.unread
        else []
    )
    return held + unread


def notes(found: Inspection) -> tuple[str, ...]:
    """Say what the tables mean."""
    return (SUSPICIOUS,) if found.grouped is not None else NOTES if found.inside is not None else ()


def how_to_add(found: Inspection) -> str:
    """Say how a plain index gets a graph or a hierarchy."""
    if is_address(found.folder):
        return "no graph and no hierarchy: an index in a folder can have one"
    added = f"`ramify index --kind graph --out {one_line(found.folder)}` adds one"
    return f"no graph and no hierarchy: {added}, --kind hierarchy the other, without encoding a passage again"


def _graph_facts(inside: Inside, passages: int) -> Iterator[tuple[str, str]]:
    counts = inside.counts
    alone = f"; {counts['unconnected_names']:,} of them without a connection" if counts["unconnected_names"] else ""
    yield "names", f"{counts['names']:,}, found by {_who(inside.facts.get('made_by', ''))}{alone}"
    named = counts["passages_with_names"]
    yield "", f"in {named:,} of {passages:,} passages ({_percent(named / max(1, passages))})"
    yield "connections", f"{counts['connections']:,}"
    if counts["claims"]:
        yield "claims", f"{counts['claims']:,}"
    replaced = f", {counts['replaced_reports']:,} of them replaced by quotations" if counts["replaced_reports"] else ""
    yield "reports", f"{len(inside.reports):,}, written by {_who(inside.facts.get('reported_by', ''))}{replaced}"
    if inside.unread:
        reasons = sorted({one_line(why) for why in inside.unread.values()})
        yield "not read", f"{len(inside.unread):,} units, the first from {next(iter(inside.unread))}: {reasons[0]}"


def _who(name: str) -> str:
    """Name who found names or wrote reports."""
    return "rules (no model)" if name == QUOTED else one_line(name) or "an unknown model"


def _percent(share: float) -> str:
    """Write a share; never all where something is missing."""
    return f"{min(share, 0.999):.1%}".replace("%", " %") if share < 1 else f"{share:.0%}".replace("%", " %")


def _graph_tables(inside: Inside, passages: int) -> list[Table]:
    """Give the levels and how much there is, beside those of the paper, and the largest communities of level 0."""
    levels, sized = [], {level.number: level for level in inside.levels}
    for number in sorted({*sized, *PAPER_SHARES}):
        level = sized.get(number)
        own = (f"{level.communities:,}", f"{level.tokens:,}", _percent(level.share), f"{level.modularity:.2f}") if level else (NONE,) * 4
        levels.append((f"C{number}", *own, PAPER_SHARES.get(number, NONE)))
    text = ("TS", NONE, f"{inside.tokens:,}", "100 %", NONE, "100 %")
    counts = (inside.tokens, passages, inside.counts["names"], inside.counts["connections"])
    corpora = [("this index", *(f"{count:,}" for count in counts)), *((f"the paper's {name}", *told) for name, *told in PAPER_CORPORA)]
    largest = [
        (f"{inside.size(id):,}", f"{inside.reports[id].rating:g}", one_line(inside.reports[id].title)) for id in inside.root[:LARGEST]
    ]
    return [
        Table(("level", "communities", "tokens of reports", "of the text", "Q", "the paper's share"), [*levels, text]),
        Table(("corpus", "tokens", "units", "names", "connections"), corpora),
        Table(("names", "rating", "largest communities of level 0"), largest, words=(2,), long=True),
        *_claims(inside),
    ]


def _claims(inside: Inside) -> Iterator[Table]:
    """Give the first claims with the words of the documents that they are from, where there are any."""
    rows = [
        tuple(map(one_line, (inside.graph.names[one.subject].name, one.object or NONE, one.kind or NONE, one.dates or NONE, one.span)))
        for one in inside.graph.claims[:CLAIMS]
    ]
    if rows:
        yield Table(("claims on", "concerning", "type", "dates", "in the words of the documents"), rows, words=(0, 1, 2, 3, 4), long=True)
