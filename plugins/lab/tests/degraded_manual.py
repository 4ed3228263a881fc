"""A manual of three chapters, whose documents can lose them or have another's."""

import json
from pathlib import Path
from typing import Any

from tests.tools.index.manual import COMMON, Record, records


def write_manual(folder: Path) -> Path:
    """Write a manual of three chapters, with a question on each paragraph, and one paragraph of no chapter."""
    folder.mkdir(parents=True)
    stray = {"id": "stray", "title": "Preface", "text": "Whoever keeps tools dry keeps them long.", "metadata": {}}
    corpus = [*records(8, ("Bellows", "Loom", "Kiln")), stray]
    for name, written in (("corpus.jsonl", corpus), ("questions.jsonl", [_question(record) for record in corpus])):
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in written), encoding="utf-8")
    return folder


def _question(record: Record) -> dict[str, Any]:
    heading, chapter = record["metadata"].get("heading", "the preface"), record["metadata"].get("chapter", "manual")
    asked = f"What is said of {heading} in the chapter on the {chapter}?"
    fields = {"id": f"q-{record['id']}", "question": asked, "answer": "", "type": "common" if heading == COMMON else "own"}
    return {**fields, "supporting": [{"doc_id": record["id"], "title": record["title"]}]}
