"""A manual of invented machines: chapters with words of their own, and numbered paragraphs with their chapter as metadata."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.graphs.building import make_hierarchy
from ramify.tools.hierarchy.build import HierarchyBuild
from ramify.tools.hierarchy.hierarchy_file import HIERARCHY, HierarchyContent, read_hierarchy_file
from ramify.tools.hierarchy.index import HierarchyIndex
from ramify.tools.index import Index
from ramify.tools.index.manifest import index_file
from tests.tools.fakes import WordEncoder

WORDS = {
    "Bellows": "leather seam pleat valve bellows nozzle airway stitch hinge patch draught clasp",
    "Loom": "warp weft shuttle heddle reed treadle bobbin selvage loom batten cloth thread",
    "Kiln": "glaze firing brick flue damper cone shelf kiln clay ember vent soak",
    "Press": "platen screw type ink forme tympan frisket press sheet roller gauge bearer",
}
SENTENCES = ("The {} {} is checked for {} and {}.", "A worn {} is taken off before the {} and the {} are fitted.", "Keep the {} {} dry.")
PER_CHAPTER = 16
COMMON = "General"
"""The heading of the first paragraph of every chapter."""
Record = dict[str, Any]


def records(each: int = PER_CHAPTER, chapters: Sequence[str] = tuple(WORDS)) -> list[Record]:
    """Write paragraphs: chapter by chapter, numbered from 1 in each."""
    found = []
    for number, chapter in enumerate(chapters, 1):
        words = WORDS[chapter].split()
        draw = random.Random(chapter)
        for place in range(1, each + 1):
            text = " ".join(sentence.format(*draw.sample(words, sentence.count("{}"))) for sentence in SENTENCES)
            heading = COMMON if place == 1 else f"{words[place % len(words)].title()} {place}"
            title = f"{number}-{place}. {heading}"
            metadata = {"chapter": chapter, "tool": f"tool {place % 2}", "heading": heading}
            found.append({"id": f"p{number}-{place}", "title": title, "text": text, "metadata": metadata})
    return found


def change_records(given: Sequence[Record], changes: Mapping[str, Mapping[str, Any] | None]) -> list[Record]:
    """Change the metadata of some paragraphs by id; None takes their chapter away."""
    found = []
    for record in given:
        metadata = dict(record["metadata"])
        if record["id"] in changes:
            change = changes[record["id"]]
            metadata = {**metadata, **change} if change is not None else {k: v for k, v in metadata.items() if k != "chapter"}
        found.append({**record, "metadata": metadata})
    return found


def write(folder: Path, given: Sequence[Record]) -> Path:
    """Write paragraphs as one file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "manual.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in given), encoding="utf-8")
    return file


def build_index(folder: Path, given: Sequence[Record], **options: Any) -> Path:
    """Make a plain index of paragraphs."""
    Index.build([write(folder.parent / f"{folder.name}-documents", given)], folder, WordEncoder(), **options)
    return folder


def build_groups(folder: Path, by: Sequence[str] | None = ("chapter",), rebuild: bool = False, **options: Any) -> HierarchyBuild:
    """Make the hierarchy of an index."""
    return make_hierarchy(folder, options, by, rebuild, embedding=WordEncoder())[0]


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
