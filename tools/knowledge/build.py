"""Build the graph of an index; replies of models are stored, so that a build resumes."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from ramify.tools.errors import IndexingError
from ramify.tools.index.index import read_facts
from ramify.tools.index.manifest import PASSAGES, manifest_of, write_lock
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.publication import publish_structure
from ramify.tools.knowledge.communities import MAX_CLUSTER_SIZE, Partition, Weights, communities, kept, levels, weighted
from ramify.tools.knowledge.elements import Elements, Graph, Knowledge, Piece, read_pieces, sum_up, title_key
from ramify.tools.knowledge.graph_file import GRAPH, Content, Former, read_former, write_content
from ramify.tools.knowledge.reports import Material, Materials, Report
from ramify.tools.new_files import make_file, write_error_remedy

NEW_EDGES = 0.1
"""From this share of new connections on, partitioning anew is advised."""
BUDGET = "the budget was used up"
"""Why something was not read that a further run will read."""
PARTIAL = "partial"
"""The fact that communities were made when a budget had ended the reading: those of a part are no beginning for the whole."""


class Reading(NamedTuple):
    """What reading came to: the elements, and what could not be read, by the id of its first passage, with the reason."""

    elements: Sequence[Elements]
    unread: Mapping[str, str] = {}


class Builder(Protocol):
    """Does what needs reading: by rules, or with a language model."""

    @property
    def made_by(self) -> str:
        """Name who finds the names."""

    @property
    def reported_by(self) -> str:
        """Name who writes the reports."""

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Reading:
        """Find names and what connects them."""

    async def settle(self, knowledge: Knowledge, progress: Progress) -> Graph:
        """Give each element one description."""

    async def report(self, materials: Sequence[Material], told: Callable[[int], None]) -> list[Report]:
        """Report on communities of one depth; `told` hears how many are done."""


@dataclass(frozen=True)
class Structure:
    """How names are partitioned."""

    max_cluster_size: int = MAX_CLUSTER_SIZE
    weights: Weights = "count"
    recluster: bool = False
    """Whether to partition anew what was partitioned before."""


class Structured(NamedTuple):
    """What the build of a graph came to."""

    names: int
    edges: int
    communities: int
    levels: int
    rewritten: int
    """Reports that were made; the others are as they were."""
    replaced: int
    """Reports that the model did not write, for whatever reason, and that are quoted from the documents instead."""
    unread: Mapping[str, str]
    new_edges: float
    """Share of the connections that are new since the names were partitioned."""


async def build_graph(folder: Path, builder: Builder, structure: Structure | None = None, progress: Progress = silent) -> Structured:
    """Make the graph of the finished index in a folder; IndexingError where no connected names are found in it."""
    structure = structure or Structure()
    manifest_of(folder)
    with write_lock(folder):
        pieces = read_pieces(folder / PASSAGES)
        reading = await builder.read(pieces, progress)
        knowledge = sum_up(reading.elements)
        if not knowledge.relations and BUDGET in reading.unread.values():
            what = f"{BUDGET} before names that are connected were found in {str(folder)!r}"
            raise IndexingError(what, "raise max_calls, max_tokens or max_seconds: what was read is kept")
        if not knowledge.relations:
            what = f"no names that are connected were found in the {len(pieces):,} passages of {str(folder)!r}"
            raise IndexingError(what, "use the index as it is, or name a language model with --model")
        graph = await builder.settle(knowledge, progress)
        former, told = read_former(folder / GRAPH), read_facts(folder / GRAPH)
        anew = _anew(former, structure, builder.made_by, told)
        partition, new = _partitioned(knowledge, former, structure, 0 if anew else int(told.get("new_edges", 0)), anew)
        reports, rewritten = await _reported(builder, graph, partition, former, progress)
        replaced = sum(report.made_by != builder.reported_by for report in reports.values())
        facts = {
            "made_by": builder.made_by,
            "reported_by": builder.reported_by,
            "max_cluster_size": str(structure.max_cluster_size),
            "weights": structure.weights,
            "new_edges": str(new),
            "replaced": str(replaced),
            **({PARTIAL: "yes"} if anew and BUDGET in reading.unread.values() else {}),
            **{f"unread {id}": why for id, why in sorted(reading.unread.items())},
        }
        titles = {piece.id: [title_key(title) for title in piece.titles] for piece in pieces}
        content = Content(graph, partition, reports, titles, [piece.id for piece in pieces], facts)
        publish_structure(folder, "graph", lambda path: write_content(path, content))
    sizes = (len(graph.names), len(graph.edges), len(partition), len(levels(partition)))
    return Structured(*sizes, rewritten, replaced, reading.unread, new / len(graph.edges))


def _anew(former: Former, structure: Structure, made_by: str, told: Mapping[str, str]) -> bool:
    """Tell whether to partition anew: there are no communities yet, they are of other names or another size, or those of a part."""
    wanted = {"made_by": made_by, "max_cluster_size": str(structure.max_cluster_size), "weights": structure.weights}
    return structure.recluster or not former.partition or PARTIAL in told or not wanted.items() <= told.items()


def _partitioned(knowledge: Knowledge, former: Former, structure: Structure, new: int, anew: bool) -> tuple[Partition, int]:
    """Partition, or keep communities as they were; tell how many connections are new since they were made: so many before, and more."""
    edges = weighted(knowledge.relations, structure.weights)
    if anew:
        return communities(edges, structure.max_cluster_size), 0
    return kept(former.partition, edges, structure.max_cluster_size), new + sum(pair not in former.pairs for pair in edges)


async def _reported(
    builder: Builder, graph: Graph, partition: Partition, former: Former, progress: Progress
) -> tuple[dict[str, Report], int]:
    """Report on all communities, the deepest first; a report whose material is as it was is kept."""
    materials = Materials(graph, partition)
    reports: dict[str, Report] = {}
    rewritten = 0
    for ids in materials.by_depth():
        dirty: list[Material] = []
        for id in ids:
            material = materials.of(id, reports)
            held = former.reports.get(material.digest)
            if held and held.made_by == builder.reported_by:
                reports[id] = held._replace(community=id)
            else:
                dirty.append(material)
        done = len(reports)
        made = await builder.report(dirty, lambda number, done=done: progress(done + number, len(partition), "reports"))  # type: ignore[misc]
        reports |= {report.community: report for report in made}
        rewritten += len(made)
    return {id: reports[id] for id in partition}, rewritten


WORK = "work.sqlite"


class Work:
    """Keep replies by what was asked of whom."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._used: set[str] = set()
        with self._telling():
            self._database = sqlite3.connect(make_file(path).absolute(), check_same_thread=False)
            self._database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raise IndexingError where the file cannot be read or written."""
        try:
            yield
        except (OSError, sqlite3.DatabaseError) as error:
            what = f"the replies of the model cannot be kept in {str(self._path)!r}: {error}"
            raise IndexingError(
                what, write_error_remedy(error, "delete it where it is damaged: what it holds is asked again", resumable=True)
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the reply kept under a key, None where there is none."""
        self._used.add(key)
        with self._telling():
            found = self._database.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return json.loads(found[0]) if found else None

    def put(self, key: str, reply: dict[str, Any]) -> None:
        """Keep a reply."""
        with self._telling(), self._database:
            self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", [key, json.dumps(reply, ensure_ascii=False)])

    def forget_unused(self) -> None:
        """Forget the replies that this build had no use for: what they were about is gone."""
        with self._telling(), self._database:
            gone = [key for (key,) in self._database.execute("SELECT key FROM replies") if key not in self._used]
            self._database.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in gone])


def key_of(asked: Sequence[str]) -> str:
    """Give the key of what was asked: the words of the prompt, the model and its options."""
    return hashlib.sha256("\0".join(asked).encode()).hexdigest()
