"""Two runs on the same data: the lines of both on the same questions."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ramify.evaluation.results.paired import Pairs, common
from ramify.evaluation.results.run import Run, read_run
from ramify.evaluation.rows import Row
from ramify.tools.english import sentences
from ramify.tools.errors import UsageError
from ramify.tools.folded_text import fold

Group = tuple[str, str, str]
"""Data set, strategy and variant."""
PRIOR = "closed-book"
_MARKS = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Compared:
    """Two runs, and the lines of both on the same questions."""

    a: Run
    b: Run
    pairs: Mapping[tuple[Group, Group], Pairs]

    @property
    def answers(self) -> list[tuple[Row, Row]]:
        """List the pairs of answers."""
        found = (pair for pairs in self.pairs.values() for pair in pairs)
        return [(a.row, b.row) for a, b in found if not (a.failed or b.failed or a.searched or b.searched)]


def read_runs(run_a: Path, run_b: Path) -> Compared:
    """Read two runs; UsageError where they cannot be compared."""
    a, b = read_run(run_a), read_run(run_b)
    shared = [dataset for dataset in a.datasets if dataset in b.datasets]
    if not shared:
        what = f"{str(run_a)!r} is on {', '.join(a.datasets)}, and {str(run_b)!r} on {', '.join(b.datasets)}"
        raise UsageError(what, "compare runs on the same data")
    for dataset in shared:
        if (one := a.described(dataset).get("sha256")) != (other := b.described(dataset).get("sha256")):
            what = f"the two runs have other data under the name {dataset!r} (sha256 {str(one)[:12]} and {str(other)[:12]})"
            raise UsageError(what, "run both on the same questions and documents")
    pairs = {groups: common(a.groups[groups[0]], b.groups[groups[1]]) for groups in _matched(a, b)}
    pairs = {groups: found for groups, found in pairs.items() if found}
    if not pairs:
        raise UsageError(
            "the two runs have no question in common that the same strategy answered", "run the same strategy on the same questions"
        )
    return Compared(a, b, pairs)


def _matched(a: Run, b: Run) -> Iterator[tuple[Group, Group]]:
    """Match the same strategy and variant; where a run has but one of them beside the prior, it is matched whatever it is."""
    sides = [{group for group in run.answered if group[1] != PRIOR} or set(run.answered) for run in (a, b)]
    same = [(group, group) for group in a.answered if group in b.answered]
    if sides[0] & sides[1] or any(len({group[1:] for group in side}) != 1 for side in sides):
        yield from same
        return
    yield from ((one, other) for one in a.answered for other in b.answered if one in sides[0] and other in sides[1] and one[0] == other[0])


def rests_on(row: Row) -> dict[str, int]:
    """Count what an answer rests on."""
    cited = [one for one in row.get("citations") or () if one.get("cited", True)]
    evidence = {id for branch in row.get("tree") or () for id in branch.get("evidence") or ()}
    text = _MARKS.sub("", f"{row.get('answer') or ''}\n{row.get('explanation') or ''}")
    return {
        "passages cited": len({one["id"] for one in cited}),
        "documents cited": len({one["source"] for one in cited}),
        "communities read": sum(id.startswith("community ") for id in evidence),
        "distinct sentences": len({fold(one) for line in text.splitlines() for one in sentences(line)} - {""}),
    }
