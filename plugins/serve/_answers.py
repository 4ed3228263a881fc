"""What the JSON interface returns about an answer: remarks, the answer as an HTML page, its passages and their files."""

from mimetypes import guess_type
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ramify.graphs.run import Result
from ramify.nodes.tree import Branch, Passage, is_unknown
from ramify.nodes.tree.citation import cite
from ramify.serve.catalog import Catalog, Selection
from ramify.studio.drawing import phrases
from ramify.studio.drawing.page import result_page
from ramify.testing import verify
from ramify.tools.demo import demo_index
from ramify.tools.errors import UsageError
from ramify.tools.index.file_list import passages_beside
from ramify.tools.index.index import iterate_passages
from ramify.tools.index.index_store import is_store_address
from ramify.tools.index.passage_store import opened_passages
from ramify.tools.search.searcher import DEMO, open_index
from ramify.tools.user_input import expand_path

MAX_TREE_PASSAGES = 2000
"""Maximum number of passages in the tree of a page."""
_UNSTORED_FIELDS = {"strategy": "", "model": "", "answer": "", "usage": {}, "stopped_by": "finished"}
"""Defaults of the fields of a result that conversations do not store."""
_FILE_QUERY = """SELECT files.root, files.path FROM passages JOIN documents ON documents.id = passages.document
JOIN files ON files.root = documents.root AND files.source = documents.file WHERE passages.id = ?"""
_PASSAGE_FIELDS = {"id", "text", "source", "name", "title", "heading", "page", "quote", "start", "end"}
_TEXT_SUFFIXES = {".md", ".csv", ".tsv", ".json", ".jsonl", ".eml", ".txt"}
"""Files that are sent as plain text, so that browsers display them."""


class StoredResult(BaseModel):
    """A result as the JSON interface returned it; without a collection, its page shows no passages in the tree."""

    model_config = ConfigDict(extra="forbid")

    collection: str | list[str] | None = None
    result: dict[str, Any]


def result_remarks(question: str, result: Result) -> dict[str, Any]:
    """Return the remarks on an answer, worded as in the terminal: how the question was understood, notes, early stops, the cost,
    and the answers to mark in quotations.
    """
    notes = filter(None, (phrases.conflict_text(result), phrases.unknown_advice(result, " (in Settings)")))
    stop_reason = phrases.stop_reason(result)
    return {
        "understood": phrases.understood_as(question, result.question),
        "notes": [phrases.to_sentence(note) for note in notes],
        "stopped": phrases.to_sentence(stop_reason) if stop_reason else "",
        "cost": phrases.cost_text(result),
        "marked": phrases.answers_to_mark(result),
        "checked": _checked(result),
    }


def _checked(result: Result) -> dict[str, Any] | None:
    """Return what `ramify verify` says of an answer by itself: a line, and the checks that do not hold; None for Unknown."""
    if is_unknown(result.answer):
        return None
    verification = verify(result)
    verdicts = [check._asdict() for check in verification.checks if check.verdict != "holds"]
    return {"summary": verification.summary(), "holds": verification.holds, "checks": verdicts}


def stored_remarks(question: str, stored: StoredResult, catalog: Catalog) -> dict[str, Any]:
    """Return the remarks on a stored turn; its duration is not stored, so the cost omits it. Blocking."""
    remarks = result_remarks(question, _load_result(stored, catalog))
    return {**remarks, "cost": remarks["cost"].rpartition(" · ")[0]}


def stored_result_page(stored: StoredResult, catalog: Catalog) -> str:
    """Return the HTML page of a result; raise UsageError for an invalid result. Blocking."""
    return result_page(_load_result(stored, catalog))


def _load_result(stored: StoredResult, catalog: Catalog) -> Result:
    values = {name: value for name, value in stored.result.items() if name in Result.model_fields}
    try:
        rows = [Branch.model_validate({name: row[name] for name in Branch.model_fields if name in row}) for row in values.get("tree") or ()]
        tree = {branch.path: branch for branch in rows}
        ids = list(dict.fromkeys(identity for branch in rows for identity in branch.evidence))[:MAX_TREE_PASSAGES]
        passages = _load_passages(catalog.selection(stored.collection), ids) if stored.collection else {}
        return Result.model_validate({**_UNSTORED_FIELDS, **values, "tree": tree, "passages": passages})
    except (ValidationError, TypeError, KeyError) as error:
        raise UsageError(
            f"this is not a valid result of a question ({type(error).__name__})", "send the object of the event `result` unchanged"
        ) from error


def _load_passages(selection: Selection, ids: list[str]) -> dict[str, Passage]:
    """Return the passages that exist, by their ids in the selection."""
    by_identity: dict[str, Passage] = {}
    for member in selection.members:
        by_passage = {located[1]: identity for identity in ids if (located := selection.locate(identity)) and located[0] == member}
        name = member.name if len(selection.members) > 1 else ""
        for passage in iterate_passages(open_index(member.where), [*by_passage]):
            by_identity[by_passage[passage.id]] = passage.model_copy(update={"id": by_passage[passage.id], "collection": name})
    return {identity: by_identity[identity] for identity in ids if identity in by_identity}


def passage_json(selection: Selection, identity: str, quote: str = "") -> dict[str, Any] | None:
    """Return a passage with its source, and the position of a quote in its text; None if there is no such passage. Blocking."""
    if (located := selection.locate(identity)) is None or (passage := _load_passages(selection, [identity]).get(identity)) is None:
        return None
    [citation] = cite([passage], [quote], cited=True)
    collection, own = located
    beside = ("", "") if is_store_address(collection.where) else passages_beside(collection.folder(), own)
    prefix = identity.removesuffix(own)
    before, after = (prefix + other if other else "" for other in beside)
    return {
        **citation.model_dump(include=_PASSAGE_FIELDS),
        "before": before,
        "after": after,
        "collection": collection.name,
        "file": passage_file(selection, identity) is not None,
    }


def passage_file(selection: Selection, identity: str) -> Path | None:
    """Return the file of a passage; None if it is not a file that was indexed, or no longer exists. Blocking.

    The path comes from the index's list of files, never from the text or metadata of a document.
    """
    if (located := selection.locate(identity)) is None or is_store_address(located[0].where):
        return None
    collection, passage = located
    folder = demo_index() if collection.where == DEMO else expand_path(collection.where).resolve()
    with opened_passages(folder) as database:
        row = database.execute(_FILE_QUERY, [passage]).fetchone()
    if row is None:
        return None
    root, path = (Path(value).resolve() for value in row)
    return path if path.is_relative_to(root) and path.is_file() else None


def media_type(path: Path) -> str:
    """Return the media type with which a file is sent."""
    if path.suffix.lower() in _TEXT_SUFFIXES:
        return "text/plain; charset=utf-8"
    return guess_type(path.name)[0] or "application/octet-stream"
