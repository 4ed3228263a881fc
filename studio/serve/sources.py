"""The text of a passage out of its index, and its file where it lies under a folder that was indexed."""

import sqlite3
from contextlib import closing
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import cite
from ramify.studio.serve.catalog import Selection
from ramify.tools.demo import demo_index
from ramify.tools.index.index_store import is_address
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.searcher import DEMO, opened
from ramify.tools.typed import usable

_FILE = """SELECT files.root, files.path FROM passages JOIN documents ON documents.id = passages.document
JOIN files ON files.root = documents.root AND files.source = documents.file WHERE passages.id = ?"""
_TOLD = {"id", "text", "source", "name", "title", "heading", "page", "quote", "start", "end"}
_TEXT = {".md", ".csv", ".tsv", ".json", ".jsonl", ".eml", ".txt"}
"""Files that a browser shows as text, whatever it would do with them otherwise."""


def passage_json(selection: Selection, identity: str, quote: str = "") -> dict[str, Any] | None:
    """Return a passage with where it stands, and the place of a quote in its text; None where there is no such passage. Blocking."""
    if (place := selection.locate(identity)) is None or not (found := opened(place[0].where).get_by_ids([place[1]])):
        return None
    [document] = found
    rest = {name: value for name, value in document.metadata.items() if name != "source"}
    source = str(document.metadata.get("source", identity))
    passage = Passage(id=identity, text=document.page_content, source=source, score=0.0, metadata=rest)
    [citation] = cite([passage], [quote], cited=True)
    return {**citation.model_dump(include=_TOLD), "collection": place[0].name, "file": file_of(selection, identity) is not None}


def file_of(selection: Selection, identity: str) -> Path | None:
    """Return the file of a passage; None where it is none that the index was made of, or no longer lies where it was. Blocking.

    What documents say of their own path does not count: the list of the files that were read does.
    """
    if (place := selection.locate(identity)) is None or is_address(place[0].where):
        return None
    collection, passage = place
    folder = demo_index() if collection.where == DEMO else usable(collection.where).resolve()
    with closing(sqlite3.connect(f"{(folder / PASSAGES).resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        row = database.execute(_FILE, [passage]).fetchone()
    if row is None:
        return None
    root, path = (Path(one).resolve() for one in row)
    return path if path.is_relative_to(root) and path.is_file() else None


def media_type(path: Path) -> str:
    """Return what a file is sent as."""
    if path.suffix.lower() in _TEXT:
        return "text/plain; charset=utf-8"
    return guess_type(path.name)[0] or "application/octet-stream"
