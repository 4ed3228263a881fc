"""The manual of `tests/tools/index/manual.py` as an index with a hierarchy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ramify.kinds.building import build_hierarchy
from ramify.kinds.hierarchy.build import HierarchyBuild
from ramify.kinds.hierarchy.hierarchy_file import HIERARCHY, HierarchyContent, read_hierarchy_file
from ramify.kinds.hierarchy.index import HierarchyIndex
from ramify.tools.index.folder import index_file
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import Record, build_index, records


def build_groups(folder: Path, by: Sequence[str] | None = ("chapter",), rebuild: bool = False, **options: Any) -> HierarchyBuild:
    """Make the hierarchy of an index."""
    return build_hierarchy(folder, options, by, rebuild, embedding=WordEncoder())[0]


def build_index_with_groups(
    folder: Path, given: Sequence[Record] | None = None, by: Sequence[str] | None = ("chapter",), **options: Any
) -> HierarchyBuild:
    """Make an index of paragraphs with a hierarchy."""
    return build_groups(build_index(folder, records() if given is None else given), by, **options)


def open_groups(folder: Path) -> HierarchyIndex:
    """Open an index with a hierarchy."""
    index = HierarchyIndex.open(folder, WordEncoder())
    assert isinstance(index, HierarchyIndex)
    return index


def read_content(folder: Path) -> HierarchyContent:
    """Read the hierarchy of an index."""
    return read_hierarchy_file(index_file(folder, HIERARCHY))


def dump(folder: Path) -> bytes:
    """Return the bytes of the hierarchy's file."""
    return index_file(folder, HIERARCHY).read_bytes()


def group_names(folder: Path, id: str, *kinds: str) -> list[str]:
    """Return the names of a passage's groups, by edges of some kinds."""
    content = read_content(folder)
    place = list(content.ids).index(id)
    return [content.groups[edge.group].name for edge in content.edges if edge.leaf == place and (not kinds or edge.kind in kinds)]
