"""Questions written by hand over manuals and office documents: those for one fact, which are not to be split, and those in two hops."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.source import gold
from training.technical import FOLDERS, group
from training.writing.data_folders import folder as load
from training.writing.style import one, two
from training.writing.written import Written

_OPEN: Final = ("how_to", "list")


def technical(data: Path) -> Iterator[Written]:
    """Yield the questions with their steps; those for one fact also where they look like two: "the option that", "whose"."""
    for name in FOLDERS:
        folder = load(data / name)
        for item in folder.questions:
            documents = gold(folder, item)
            if not documents or item["metadata"]["kind"] in _OPEN:
                continue
            about = group(documents[0])
            if item["decomposition"]:
                first, second = (step["question"] for step in item["decomposition"]["steps"])
                yield two(item["question"], first, second, f"{name}_hops", about)
            else:
                yield one(item["question"], f"{name}_single", about)
