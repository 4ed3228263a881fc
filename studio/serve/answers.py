"""What our own interface says of an answer beside the answer itself, the answer as a page, and its passages with their files."""

import sqlite3
from contextlib import closing
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ramify.graphs.run import Result
from ramify.nodes.retrieve import passage_of
from ramify.nodes.tree import Branch, Passage
from ramify.nodes.tree.citation import cite
from ramify.studio.drawing import phrases
from ramify.studio.drawing.page import page
from ramify.studio.serve.catalog import Catalog, Selection
from ramify.tools.demo import demo_index
from ramify.tools.errors import UsageError
from ramify.tools.index import Hit
from ramify.tools.index.index_store import is_address
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.searcher import DEMO, opened
from ramify.tools.user_input import expand_path

MOST_PASSAGES = 2000
"""Passages that a page shows in its tree."""
_UNTOLD = {"strategy": "", "model": "", "answer": "", "usage": {}, "stopped_by": "finished"}
"""What conversations do not keep of a result."""
_FILE = """SELECT files.root, files.path FROM passages JOIN documents ON documents.id = passages.document
JOIN files ON files.root = documents.root AND files.source = documents.file WHERE passages.id = ?"""
_TOLD = {"id", "text", "source", "name", "title", "heading", "page", "quote", "start", "end"}
_TEXT = {".md", ".csv", ".tsv", ".json", ".jsonl", ".eml", ".txt"}
"""Files that a browser shows as text, whatever it would do with them otherwise."""


class Kept(BaseModel):
    """A result as our own interface gave it, to be made a page of; without a collection, its tree shows no passages."""

    model_config = ConfigDict(extra="forbid")

    collection: str | list[str] | None = None
    result: dict[str, Any]


def remarks(asked: str, result: Result) -> dict[str, Any]:
    """Return what is to be said of an answer, in the words of the terminal: how it was understood, why it is so, and its cost."""
    notes = filter(None, (phrases.settled(result), phrases.reason(result), phrases.advice(result)))
    stopped = phrases.stopped(result)
    return {
        "understood": phrases.understood(asked, result.question),
        "notes": [phrases.sentence(note) for note in notes],
        "stopped": phrases.sentence(stopped) if stopped else "",
        "cost": phrases.cost(result),
    }


def kept_remarks(asked: str, kept: Kept, catalog: Catalog) -> dict[str, Any]:
    """Return the same of a turn that was kept, as far as it is known; how long it took is not. Blocking."""
    result = _result(kept, catalog)
    told = remarks(asked, result)
    unread = not result.passages and any(branch.evidence for branch in result.tree.values())
    return {**told, "notes": [] if unread else told["notes"], "cost": told["cost"].rpartition(" · ")[0]}


def page_of(kept: Kept, catalog: Catalog) -> str:
    """Return the page of a result; UsageError for what is none. Blocking."""
    return page(_result(kept, catalog))


def _result(kept: Kept, catalog: Catalog) -> Result:
    told = {name: value for name, value in kept.result.items() if name in Result.model_fields}
    try:
        rows = [Branch.model_validate({name: row[name] for name in Branch.model_fields if name in row}) for row in told.get("tree") or ()]
        tree = {branch.path: branch for branch in rows}
        ids = list(dict.fromkeys(identity for branch in rows for identity in branch.evidence))[:MOST_PASSAGES]
        passages = _passages(catalog.selection(kept.collection), ids) if kept.collection else {}
        return Result.model_validate({**_UNTOLD, **told, "tree": tree, "passages": passages})
    except (ValidationError, TypeError, KeyError) as error:
        raise UsageError("this is no result of a question", "send the object of the event `result`, as it came") from error


def _passages(selection: Selection, ids: list[str]) -> dict[str, Passage]:
    """Return the passages that are there, under the ids that they have in the selection."""
    found: dict[str, Passage] = {}
    for one in selection.members:
        own = {place[1]: identity for identity in ids if (place := selection.locate(identity)) and place[0] == one}
        for document in opened(one.where).get_by_ids([*own]):
            passage, name = passage_of(Hit(document, 0.0, 0.0)), one.name if len(selection.members) > 1 else ""
            found[own[passage.id]] = passage.model_copy(update={"id": own[passage.id], "collection": name})
    return {identity: found[identity] for identity in ids if identity in found}


def passage_json(selection: Selection, identity: str, quote: str = "") -> dict[str, Any] | None:
    """Return a passage with where it stands, and the place of a quote in its text; None where there is no such passage. Blocking."""
    if (place := selection.locate(identity)) is None or (passage := _passages(selection, [identity]).get(identity)) is None:
        return None
    [citation] = cite([passage], [quote], cited=True)
    return {**citation.model_dump(include=_TOLD), "collection": place[0].name, "file": file_of(selection, identity) is not None}


def file_of(selection: Selection, identity: str) -> Path | None:
    """Return the file of a passage; None where it is none that the index was made of, or no longer lies where it was. Blocking.

    What documents say of their own path does not count: the list of the files that were read does.
    """
    if (place := selection.locate(identity)) is None or is_address(place[0].where):
        return None
    collection, passage = place
    folder = demo_index() if collection.where == DEMO else expand_path(collection.where).resolve()
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
