"""A manual of invented machines: chapters with words of their own, and numbered paragraphs with their chapter as metadata."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.tools.index import Index
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
