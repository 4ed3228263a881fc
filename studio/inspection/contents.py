"""What an index holds, whatever its kind; and the passages that are shown of it, as they are cited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ramify.nodes.state import Citation
from ramify.nodes.step.citing import cite
from ramify.nodes.tree import Passage
from ramify.tools.hierarchy.groups_and_nodes import Node
from ramify.tools.hierarchy.index import HierarchyIndex
from ramify.tools.hierarchy.overview import Grouped, grouped
from ramify.tools.hierarchy.overview_object import grouped_object
from ramify.tools.index import Index
from ramify.tools.index.local_index import documents
from ramify.tools.index.manifest import Manifest
from ramify.tools.knowledge.index import GraphIndex
from ramify.tools.knowledge.overview import Inside, inside
from ramify.tools.quoting import brief


@dataclass(frozen=True)
class Inspection:
    """What an index holds."""

    folder: str
    manifest: Manifest
    inside: Inside | None = None
    grouped: Grouped | None = None

    def to_json(self) -> dict[str, Any]:
        """Give all there is to see of it; a plain index has no levels and no reports."""
        manifest = self.manifest
        counts = {"documents": manifest.documents, "passages": manifest.passages, "left_out": sum(manifest.hidden.values())}
        told = {name: getattr(manifest, name) for name in ("kind", "embedding", "chunk_tokens", "overlap")}
        inside = self.inside.to_json() if self.inside else grouped_object(self.grouped) if self.grouped else {}
        inside["counts"] = counts | inside.get("counts", {})
        return {"index": self.folder, **told, "left_out": manifest.hidden, "counts": {}, "levels": [], "reports": [], "facts": {}, **inside}


def inspection(index: Index) -> Inspection:
    """Look at an index."""
    graph = inside(index, index.reports) if isinstance(index, GraphIndex) else None
    return Inspection(index.where, index.manifest, graph, grouped(index) if isinstance(index, HierarchyIndex) else None)


def sources(index: Index, ids: Sequence[str]) -> Mapping[str, Citation]:
    """Read passages as they are cited, by id."""
    passages = [
        Passage(
            id=str(document.id),
            text=document.page_content,
            source=str(document.metadata.get("source", document.id)),
            score=0.0,
            metadata={key: value for key, value in document.metadata.items() if key != "source"},
        )
        for document in documents(index, list(dict.fromkeys(ids)))
    ]
    return {citation.id: citation for citation in cite(passages, [""] * len(passages), cited=True)}


class GroupTree:
    """The tree of a group, with the passages that are shown of it: those its summaries rest on, and at most so many below a lowest one."""

    def __init__(self, found: Grouped, group: int, index: Index, most: int) -> None:
        self.nodes = found.content.trees[group]
        self.root = self.nodes[-1]
        self.kinds = found.unusual(group)
        self._found = found
        shown = {leaf for node in self.nodes if not node.children for leaf in node.leaves[:most]}
        said = {one.leaf for node in self.nodes for one in node.summary.said}
        self._cited = sources(index, [found.content.ids[leaf] for leaf in sorted(shown | said)])

    def cited(self, leaf: int) -> tuple[str, Citation | None]:
        """Give the id of a passage, and the passage as it is cited; none where it is not in the index any more."""
        id = self._found.content.ids[leaf]
        return id, self._cited.get(id)

    def text(self, leaf: int, room: int) -> str:
        """Quote a passage."""
        _, cited = self.cited(leaf)
        return brief(cited.text, room) if cited else "is not in the index any more"

    def is_replaced(self, node: Node) -> bool:
        """Tell whether a summary is quoted because the model did not write it."""
        return node.summary.made_by != self._found.made_by
