"""Read an answer as `ramify ask --json` prints it; nothing in it is trusted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ramify.graphs.run import ANSWER_FORMAT, Result
from ramify.nodes.tree import ROOT, Branch, FrozenModel, Tree, position
from ramify.nodes.tree.citation import Citation, Sentence
from ramify.tools.errors import UsageError
from ramify.tools.user_input import expand_path

MAX_DEPTH = 64
"""Levels of a tree; no strategy grows as many."""
_REMEDY = "give the file that `ramify ask … --json` has printed"


class Answer(FrozenModel):
    """What is checked of an answer: the fields of a result that say something of the documents or of how it was found."""

    question: str
    strategy: str = ""
    answer: str
    text: str = ""
    sentences: list[Sentence] = Field(default_factory=list)
    tau: float | None = None
    confidence_source: str | None = None
    settled_by: str = ""
    citations: list[Citation] = Field(default_factory=list)
    tree: Tree


def read_answer(path: str | Path) -> Answer:
    """Return the answer in a file; UsageError if there is none."""
    try:
        value = json.loads(expand_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{str(path)!r} cannot be read as JSON ({error})", _REMEDY) from error
    return parse_answer(value)


def parse_answer(given: Result | Mapping[str, Any]) -> Answer:
    """Return an answer from a result or its JSON object; UsageError if it is not one."""
    value: Any = given.to_json() if isinstance(given, Result) else given
    if not isinstance(value, Mapping):
        raise UsageError(f"an answer is a JSON object, not {type(value).__name__}", _REMEDY)
    if (stated := value.get("format", ANSWER_FORMAT)) != ANSWER_FORMAT:
        raise UsageError(
            f"the answer has the format {stated!r}", f"give one of the format {ANSWER_FORMAT!r}, or use the version that wrote it"
        )
    try:
        citations = [Citation.model_validate(_known(Citation, row)) for row in value.get("citations", [])]
        branches = [Branch.model_validate(_known(Branch, row)) for row in value.get("tree", [])]
        tree = {branch.path: branch for branch in sorted(branches, key=lambda branch: position(branch.path))}
        answer = Answer.model_validate({**_known(Answer, value), "citations": citations, "tree": tree})
    except (ValidationError, TypeError, ValueError) as error:
        raise UsageError(f"the object is not an answer ({error})", _REMEDY) from error
    _check_tree(answer.tree, len(branches))
    return answer


def _known(model: type[BaseModel], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that a model has; those of later versions are left out."""
    return {name: value for name, value in dict(row).items() if name in model.model_fields}


def _check_tree(tree: Tree, rows: int) -> None:
    """Raise UsageError for rows that are not one tree."""
    if ROOT not in tree or len(tree) != rows:
        raise UsageError(f"the answer's tree of {rows} rows has no branch {ROOT!r}, or a path twice", _REMEDY)
    for branch in tree.values():
        if branch.depth > MAX_DEPTH or (branch.parent is not None and branch.parent not in tree):
            raise UsageError(f"the branch {branch.path[:80]!r} has no parent in the tree, or is below level {MAX_DEPTH}", _REMEDY)
