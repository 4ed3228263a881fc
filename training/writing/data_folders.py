"""Folders of questions, some of which have no corpus."""

import gzip
import json
from functools import lru_cache
from pathlib import Path

from training.source import Folder, load


@lru_cache(maxsize=32)
def folder(path: Path) -> Folder:
    """Load a folder; one without a corpus has no documents."""
    if (path / "corpus.jsonl.gz").exists():
        return load(path)
    with gzip.open(path / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        return Folder(path.name, {}, [json.loads(line) for line in file])
