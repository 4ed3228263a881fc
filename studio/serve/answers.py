"""What a page says of an answer beside the answer itself, and an answer as a page of its own."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ramify.graphs.run import Result
from ramify.nodes.retrieve import passage_of
from ramify.nodes.tree import Branch, Passage
from ramify.studio.drawing import phrases
from ramify.studio.drawing.page import page
from ramify.studio.serve.catalog import Catalog, Selection
from ramify.tools.errors import UsageError
from ramify.tools.index import Hit
from ramify.tools.index.searcher import opened

MOST_PASSAGES = 2000
"""Passages that a page shows in its tree."""
_UNTOLD = {"strategy": "", "model": "", "answer": "", "usage": {}, "stopped_by": "finished"}
"""What conversations do not keep of a result."""


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
