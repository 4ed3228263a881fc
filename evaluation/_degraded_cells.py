"""Experiments on degraded metadata: the cells, each a random share of the documents, and the systems measured in each."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ramify.evaluation.degraded_answers import HOWS
from ramify.tools.errors import UsageError

MISSING, NOISE = "missing", "noise"
WHOLE = "none"
"""Metadata that are not degraded."""
SYSTEM = "system"
"""The field that only lines of degraded metadata have."""


class DegradedCell(NamedTuple):
    """A kind of degradation, the share of documents affected, and the number of the random draw."""

    degraded: str = WHOLE
    share: float = 0.0
    draw: int = 1

    @property
    def name(self) -> str:
        """Return the variant name of its lines."""
        return f"{self.degraded}={self.share:g}, draw {self.draw}" if self.share else "clean"


class System(NamedTuple):
    """A search configuration and its index: passages with or without labels, grouped or with one tree over everything."""

    options: Mapping[str, Any] | None = None
    """Options of the hierarchy search; None for flat search."""
    labelled: bool = False
    grouped: bool = True
    known: bool = False
    """Whether it searches only documents with the gold document's true values (an oracle)."""
    once: bool = False
    """Whether it is measured on intact metadata only."""


FLAT, HEADINGS, FILTER, TREE, FULL = "flat", "flat + headings", "hard filter", "global RAPTOR", "full"
GROUPS, HARD, SOFT = "meta + flat", "meta + RAPTOR, hard", "soft, no novelty"
LABEL, BOTH = "label", "full + label"
SYSTEMS = {
    FLAT: System(once=True),
    HEADINGS: System({"summaries": 0, "fallback": 1}, grouped=False, once=True),
    FILTER: System(known=True),
    TREE: System({}, grouped=False, once=True),
    GROUPS: System({"members": "primary", "summaries": 0, "fallback": 0}),
    HARD: System({"members": "primary", "fallback": 0}),
    SOFT: System({"members": "soft"}),
    FULL: System({}),
    "full, headings=0": System({"headings": 0}, once=True),
    LABEL: System(labelled=True),
    BOTH: System({}, labelled=True),
}
"""All systems, from the simplest on; the last two only if the run has labels."""
UNREAD = (FLAT, HEADINGS, TREE)
"""Systems that read no metadata: their results on degraded metadata are those on intact ones."""
TOLD = {
    FLAT: "vectors and words, without groups or trees; reads no metadata",
    HEADINGS: "flat, and a passage gains whose heading the question names, as in all systems below but the filter and labels alone",
    FILTER: "an oracle: flat search among the documents that have the gold's true metadata; questions whose gold has none are left out",
    TREE: "one tree of summaries over everything (--group-by none); reads no metadata",
    GROUPS: "groups by metadata, no trees: what is in no likely group is not found",
    HARD: "groups by metadata, each with its tree",
    SOFT: "what lacks metadata belongs to the groups it is like; nothing is founded, moved or left to the pool",
    FULL: "all memberships, and what is in no likely group still counts a little",
    "full, headings=0": "without what a passage gains whose heading the question names",
    LABEL: "flat search in passages embedded under these metadata",
    BOTH: "both at once",
}
"""A description of each system."""
ABLATIONS = {
    "baseline_hybrid": (FLAT, WHOLE, 0.0),
    "partition_only": (GROUPS, WHOLE, 0.0),
    "partition_raptor": (HARD, WHOLE, 0.0),
    "soft_no_novelty": (SOFT, WHOLE, 0.0),
    "full_system": (FULL, WHOLE, 0.0),
    "missing_10pct": (FULL, MISSING, 0.1),
    "missing_30pct": (FULL, MISSING, 0.3),
    "missing_50pct": (FULL, MISSING, 0.5),
    "noise_10pct": (FULL, NOISE, 0.1),
    "noise_30pct": (FULL, NOISE, 0.3),
}
"""The ablations of the design (meta-guided hierarchical RAG), each a system at a point."""


def cells_of(degrade: Mapping[str, Sequence[float]], draws: int) -> list[DegradedCell]:
    """Return the cells: intact metadata first, once, then every share once per draw."""
    wanted = [(degraded, share) for degraded, shares in degrade.items() for share in shares if share]
    return list(dict.fromkeys([DegradedCell(), *(DegradedCell(*one, draw) for one in wanted for draw in range(1, draws + 1))]))


def systems_in(cell: DegradedCell, labelled: bool) -> dict[str, System]:
    """Return the systems that are measured in a cell."""
    return {name: one for name, one in SYSTEMS.items() if (labelled or not one.labelled) and not (one.once and cell.share)}


def check_shares(degrade: Mapping[str, Sequence[float]], draws: int) -> None:
    """Validate the kinds of degradation, their shares and the number of draws; UsageError if one is invalid."""
    for degraded, shares in degrade.items():
        if degraded not in (MISSING, NOISE, *HOWS):
            remedy = f"take {MISSING}=0,.1,.3 or {NOISE}=0,.1,.3 for metadata; for strategies {', '.join(HOWS)}"
            raise UsageError(f"nothing can be degraded by {degraded!r}", remedy)
        for share in shares:
            if not 0 <= share <= 1:
                raise UsageError(f"--degrade {degraded}={share} is no share", "give numbers from 0 to 1, as in .1,.3,.5")
    if draws < 1:
        raise UsageError(f"documents cannot be drawn {draws} times", "give --draws 1 or more")
