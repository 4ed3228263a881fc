"""Why a question has no answer, in words: the same at every door."""

from ramify.graphs.result import Result
from ramify.nodes.tree import DROPPED, ROOT, Branch, is_unknown
from ramify.tools.extractive.open_ended import open_ended
from ramify.tools.quoting import brief

EMBEDDED = "extractive"
ASKED_FOR_MORE = {
    "how to": "it asks how something is done, and the embedded model quotes single facts",
    "list": "it asks for a list, and the embedded model quotes single facts",
}
"""Why the embedded model has no phrase for a question."""
NAME = 80
"""Characters of an answer or question that are shown."""


def could_not_ask(result: Result) -> str:
    """Say why a question could not be asked at all; nothing where it was, be it with the answer Unknown."""
    if result.stopped_by != "error" or not is_unknown(result.answer) or any(branch.known for branch in result.tree.values()):
        return ""
    reasons = (*reversed(result.notices), result.explanation, *(branch.note for branch in result.tree.values()))
    return next(filter(None, reasons), "the model gave no usable reply")


def why_unknown(result: Result) -> str:
    """Say why a question that was asked has no answer: nothing found, no phrase for it, or what was read and how sure that was."""
    if not is_unknown(result.answer) or result.stopped_by == "error":
        return ""
    embedded = result.model == EMBEDDED
    if result.index and not result.passages:
        return "nothing was found"
    if embedded and (kind := open_ended(result.question)):
        return ASKED_FOR_MORE[kind]
    asked = [b for b in result.tree.values() if b.kind == "question" and b.status not in DROPPED]
    missing = [b for b in asked if b.answer is not None and not b.known and b.question != result.question]
    lacking = next((b for b in missing if not any(other.path.startswith(f"{b.path}.") for other in missing)), None)
    if lacking is not None:
        return f"unsure: no answer was found to {brief(lacking.question, NAME)!r}"
    return _unsure(asked, embedded) if result.index else ""


def _unsure(asked: list[Branch], embedded: bool) -> str:
    if embedded and (known := [b for b in asked if b.known]):
        weakest = min(known, key=lambda branch: branch.confidence or 0.0)
        return f"unsure: {brief(weakest.answer, NAME)!r} was withheld, only {weakest.confidence or 0.0:.2f} sure"
    read = next((b for b in asked if b.path == ROOT and b.confidence), None)
    if read is None:
        return ""
    if embedded:
        return f"unsure: what was read is only {read.confidence:.2f} sure, and was withheld"
    return f"the model finds no answer in what was found ({read.confidence:.2f} sure)"
