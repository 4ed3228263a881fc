"""A small corpus of invented places and people, its graph, and a dump for comparing graphs."""

import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ramify.kinds.building import build_graph
from ramify.kinds.knowledge.build import GraphBuild
from ramify.kinds.knowledge.graph_file import GRAPH, GraphFile
from ramify.kinds.knowledge.index import GraphIndex
from ramify.tools.index import Index
from ramify.tools.index.folder import index_file
from tests.tools.fakes import WordEncoder

VALLEY = {
    "Hollin Bridge": "Hollin Bridge spans the river Oskel at the town of Vane. It was designed by Ada Lantz for the Oskel Company. "
    "Mayor Piet Corrow opened Hollin Bridge in the spring of 1852.",
    "Ada Lantz": "Ada Lantz was an engineer who was born in Vane. She studied under Jonas Merrin at Tolvey College. "
    "The plans of Skerry Light were drawn by Ada Lantz for the harbour of Drumlow.",
    "Vane": "Vane is a market town on the river Oskel. The market of Vane was founded by Piet Corrow and the Oskel Company. "
    "A railway from Vane to Drumlow was opened in 1871.",
    "Oskel": "The Oskel rises on Mount Brannoch and flows through Vane. It reaches the sea at Drumlow, where Skerry Light stands. "
    "Trout live in the cold water of the Oskel above Vane.",
    "Skerry Light": "Skerry Light is a lighthouse that stands on Harrow Point. Its first keeper was Nell Garvey, a sailor from Drumlow. "
    "The lamp of Skerry Light was made by the Selby Works.",
    "Harrow Point": "Harrow Point is a cape to the north of Drumlow. A storm drove the ship Lapwing onto Harrow Point in 1866. "
    "The crew of the Lapwing were saved by Nell Garvey.",
    "Drumlow": "Drumlow is a harbour where the Oskel meets the sea. The Selby Works built ships at Drumlow until 1910. "
    "The ship Lapwing was built at Drumlow by the Selby Works.",
    "Tolvey College": "Tolvey College was founded in Lisk by Jonas Merrin. Music is taught at Tolvey College by Orla Finch. "
    "A hall of Tolvey College is named after Ada Lantz.",
    "Orla Finch": "Orla Finch is a composer who leads the Marrow Quartet. She wrote The Lisk Songs for Ben Adair. "
    "The Marrow Quartet first played with Orla Finch at Lisk Hall.",
    "Lisk Hall": "Lisk Hall is a concert hall in the city of Lisk. Ben Adair sang with the Marrow Quartet at Lisk Hall. "
    "The organ of Lisk Hall was given by Jonas Merrin.",
    "Mount Brannoch": "Mount Brannoch is a mountain above the Brannoch Mine. Copper was found on Mount Brannoch by Ivor Kells. "
    "The Brannoch Mine was owned by the Kells Company.",
    "Ivor Kells": "Ivor Kells was a miner who founded the Kells Company. His daughter Thea Kells closed the Brannoch Mine. "
    "Thea Kells sold the Kells Company to the Oskel Company.",
}
SMALL: dict[str, Any] = {"max_cluster_size": 3}
"""Settings under which the valley has communities on more than one level."""


def write(folder: Path, documents: Mapping[str, str] | None = None) -> Path:
    """Write documents, a file each, whose title is its heading."""
    folder.mkdir(parents=True, exist_ok=True)
    for title, text in (VALLEY if documents is None else documents).items():
        (folder / f"{title.lower().replace(' ', '-')}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return folder


def build_index_with_graph(folder: Path, documents: Mapping[str, str] | None = None, **options: Any) -> GraphBuild:
    """Make an index of documents beside them, with a graph."""
    Index.build([write(folder.parent / f"{folder.name}-documents", documents)], folder, WordEncoder())
    return build_structure(folder, **options)


def build_structure(folder: Path, recluster: bool = False, **options: Any) -> GraphBuild:
    """Make the graph of an index, or bring it up to date, by rules."""
    return build_graph(folder, options, recluster)[0]


def open_graph(folder: Path) -> GraphIndex:
    """Open an index with a graph."""
    index = GraphIndex.open(folder, WordEncoder())
    assert isinstance(index, GraphIndex)
    return index


def graph_file(folder: Path) -> GraphFile:
    """Read the graph of an index."""
    return GraphFile(index_file(folder, GRAPH))


def dump(folder: Path) -> bytes:
    """Return the bytes of the graph's file."""
    return index_file(folder, GRAPH).read_bytes()


def rows(folder: Path, sql: str, given: Iterable[object] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a query on the graph's file."""
    with closing(sqlite3.connect(index_file(folder, GRAPH))) as database:
        return database.execute(sql, list(given)).fetchall()


def copy_index(built: Path, folder: Path) -> Path:
    """Copy an index that `build_index_with_graph` built, without its documents."""
    (folder.parent / f"{folder.name}-documents").symlink_to(rewrite_documents(built, VALLEY))
    return Path(shutil.copytree(built, folder))


def rewrite_documents(folder: Path, documents: Mapping[str, str]) -> Path:
    """Replace the documents of an index."""
    beside = folder.parent / f"{folder.name}-documents"
    for path in beside.iterdir():
        path.unlink()
    return write(beside, documents)


def update_all(folder: Path, documents: Mapping[str, str]) -> None:
    """Bring the passages of an index up to date with other documents."""
    Index.build([rewrite_documents(folder, documents)], folder, WordEncoder())
