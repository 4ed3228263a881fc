"""Build the graph of an index; model replies are stored, so an interrupted build resumes."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from ramify.kinds.knowledge.communities import (
    MAX_CLUSTER_SIZE,
    Partition,
    ReportMaterial,
    ReportMaterials,
    Weights,
    community_levels,
    edge_weights,
    find_communities,
    update_communities,
)
from ramify.kinds.knowledge.elements import Elements, Graph, Knowledge, Piece, merge_elements, read_pieces, title_key
from ramify.kinds.knowledge.graph_file import GRAPH, GraphContent, PreviousGraph, read_facts, read_previous_graph, write_graph_file
from ramify.tools.errors import IndexingError
from ramify.tools.index.folder import require_manifest, write_lock
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.index.publication import publish_structure
from ramify.tools.index.reports import Report
from ramify.tools.new_files import make_file, write_error_remedy

MAX_NEW_EDGE_SHARE = 0.1
"""Share of new edges above which repartitioning is recommended."""
BUDGET_EXHAUSTED = "the budget was used up"
"""The reason recorded for units that were not read; another run will read them."""
PARTIAL_FACT = "partial"
"""The fact that the communities cover only part of the corpus because the budget was used up; the next build repartitions."""


class Extraction(NamedTuple):
    """The extracted elements, and the reasons for units that could not be read, by the id of their first passage."""

    elements: Sequence[Elements]
    unread: Mapping[str, str] = {}


class GraphBuilder(Protocol):
    """Extracts elements, describes them and writes reports, by rules or with a language model."""

    @property
    def made_by(self) -> str:
        """Return the name of the model that extracts names, or "extractive"."""

    @property
    def reported_by(self) -> str:
        """Return the name of the model that writes reports, or "extractive"."""

    async def read(self, pieces: Sequence[Piece], progress: Progress) -> Extraction:
        """Extract names, relations and claims from the passages."""

    async def describe(self, knowledge: Knowledge, progress: Progress) -> Graph:
        """Return the graph, with one description for each element."""

    async def report(self, materials: Sequence[ReportMaterial], on_done: Callable[[int], None]) -> list[Report]:
        """Write the reports of communities of one level; `on_done` is called with the number finished."""


@dataclass(frozen=True)
class GraphOptions:
    """Options for partitioning names into communities."""

    max_cluster_size: int = MAX_CLUSTER_SIZE
    weights: Weights = "count"
    recluster: bool = False
    """Whether to repartition existing communities."""


class GraphBuild(NamedTuple):
    """The result of a graph build: counts, failures and new edges."""

    names: int
    edges: int
    communities: int
    levels: int
    rewritten: int
    """Reports written in this build; the others were reused."""
    replaced: int
    """Reports quoted from the documents because the model failed to write them."""
    unread: Mapping[str, str]
    new_edges: float
    """Share of edges added since the names were partitioned, from 0 to 1."""


async def write_graph(
    folder: Path, builder: GraphBuilder, options: GraphOptions | None = None, progress: Progress = ignore_progress
) -> GraphBuild:
    """Build or update the graph of the finished index in a folder; IndexingError if no connected names are found."""
    options = options or GraphOptions()
    require_manifest(folder)
    with write_lock(folder):
        manifest = require_manifest(folder)
        pieces = read_pieces(folder / manifest.file(PASSAGES))
        extraction = await builder.read(pieces, progress)
        knowledge = merge_elements(extraction.elements)
        if not knowledge.relations and BUDGET_EXHAUSTED in extraction.unread.values():
            what = f"{BUDGET_EXHAUSTED} before connected names were found in {str(folder)!r}"
            raise IndexingError(what, "raise max_calls, max_tokens or max_seconds and run it again; finished calls are reused")
        if not knowledge.relations:
            what = f"no connected names were found in the {len(pieces):,} passages of {str(folder)!r}"
            raise IndexingError(what, "use the index as it is, or name a language model with --model")
        graph = await builder.describe(knowledge, progress)
        graph_path = folder / (manifest.file(GRAPH) if manifest.kind == "graph" else GRAPH)
        previous, previous_facts = read_previous_graph(graph_path), read_facts(graph_path)
        repartition = _must_repartition(previous, options, builder.made_by, previous_facts)
        partition, new = _partition_names(
            knowledge, previous, options, 0 if repartition else int(previous_facts.get("new_edges", 0)), repartition
        )
        reports, rewritten = await _write_reports(builder, graph, partition, previous, progress)
        replaced = sum(report.made_by != builder.reported_by for report in reports.values())
        facts = {
            "made_by": builder.made_by,
            "reported_by": builder.reported_by,
            "max_cluster_size": str(options.max_cluster_size),
            "weights": options.weights,
            "new_edges": str(new),
            "replaced": str(replaced),
            **({PARTIAL_FACT: "yes"} if repartition and BUDGET_EXHAUSTED in extraction.unread.values() else {}),
            **{f"unread {id}": why for id, why in sorted(extraction.unread.items())},
        }
        titles = {piece.id: [title_key(title) for title in piece.titles] for piece in pieces}
        content = GraphContent(graph, partition, reports, titles, [piece.id for piece in pieces], facts)
        publish_structure(folder, "graph", lambda path: write_graph_file(path, content))
    sizes = (len(graph.names), len(graph.edges), len(partition), len(community_levels(partition)))
    return GraphBuild(*sizes, rewritten, replaced, extraction.unread, new / len(graph.edges))


def _must_repartition(previous: PreviousGraph, options: GraphOptions, made_by: str, facts: Mapping[str, str]) -> bool:
    """Return whether to repartition: no communities yet, other options or another model, or communities of part of the corpus."""
    wanted = {"made_by": made_by, "max_cluster_size": str(options.max_cluster_size), "weights": options.weights}
    return options.recluster or not previous.partition or PARTIAL_FACT in facts or not wanted.items() <= facts.items()


def _partition_names(
    knowledge: Knowledge, previous: PreviousGraph, options: GraphOptions, new_edges: int, repartition: bool
) -> tuple[Partition, int]:
    """Return the new or updated communities, and the number of edges added since the last partitioning, of which `new_edges` before."""
    edges = edge_weights(knowledge.relations, options.weights)
    if repartition:
        return find_communities(edges, options.max_cluster_size), 0
    return update_communities(previous.partition, edges, options.max_cluster_size), new_edges + sum(
        pair not in previous.pairs for pair in edges
    )


async def _write_reports(
    builder: GraphBuilder, graph: Graph, partition: Partition, previous: PreviousGraph, progress: Progress
) -> tuple[dict[str, Report], int]:
    """Return the reports of all communities and how many were written now; those with unchanged material are reused."""
    materials = ReportMaterials(graph, partition)
    reports: dict[str, Report] = {}
    rewritten = 0
    for ids in materials.by_depth():
        dirty: list[ReportMaterial] = []
        for id in ids:
            material = materials.material(id, reports)
            reusable = previous.reports.get(material.digest)
            if reusable and reusable.made_by == builder.reported_by:
                reports[id] = reusable._replace(community=id)
            else:
                dirty.append(material)
        done = len(reports)
        made = await builder.report(dirty, lambda number, done=done: progress(done + number, len(partition), "reports"))  # type: ignore[misc]
        reports |= {report.community: report for report in made}
        rewritten += len(made)
    return {id: reports[id] for id in partition}, rewritten


REPLIES_FILE = "work.sqlite"


class ReplyStore:
    """Model replies on disk, by a digest of model, options and prompt."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._used: set[str] = set()
        with self._storage_errors():
            self._database = sqlite3.connect(make_file(path).absolute(), check_same_thread=False)
            self._database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    @contextmanager
    def _storage_errors(self) -> Iterator[None]:
        """Raise IndexingError if the file cannot be read or written."""
        try:
            yield
        except (OSError, sqlite3.DatabaseError) as error:
            what = f"model replies cannot be stored in {str(self._path)!r}: {error}"
            raise IndexingError(
                what, write_error_remedy(error, "delete the file if it is damaged; the calls are then repeated", resumable=True)
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the stored reply of a key, None if there is none; the key counts as used."""
        self._used.add(key)
        with self._storage_errors():
            row = self._database.execute("SELECT reply FROM replies WHERE key = ?", [key]).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key: str, reply: dict[str, Any]) -> None:
        """Store a reply."""
        with self._storage_errors(), self._database:
            self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", [key, json.dumps(reply, ensure_ascii=False)])

    def delete_unused(self) -> None:
        """Delete the replies not used by this build, because their text is gone."""
        with self._storage_errors(), self._database:
            unused = [key for (key,) in self._database.execute("SELECT key FROM replies") if key not in self._used]
            self._database.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in unused])


def reply_key(parts: Sequence[str]) -> str:
    """Return the sha256 key of a call: model, options and the prompt's messages."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
