"""Why a question ended with Unknown, in words for a reader: the one source of it for every interface (`explanation`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ramify.nodes.asking.ask import answerer_class
from ramify.nodes.tree import DROPPED, ROOT, Branch, Tree
from ramify.nodes.tree.notes import confidence_figure, read_missing_note, shorten_note
from ramify.tools.identifiers import missing_identifiers
from ramify.tools.quoting import truncate_line

EXHAUSTED = {
    "calls": "the budget of model calls (max_calls) was used up before an answer was found",
    "tokens": "the budget of tokens (max_tokens) was used up before an answer was found",
    "seconds": "the time (max_seconds) was used up before an answer was found",
    "rounds": "the last round of reading (rounds) came before an answer was found",
}
"""Which limit was reached, by `stopped_by`."""
NOTHING_FOUND = "nothing was found"
MAX_QUOTED_CHARS = 80
"""Characters of an answer or question that are shown."""


def unknown_reason(state: Mapping[str, Any]) -> str:
    """Return why the answer of a state is Unknown; it is never empty. Blocking.

    A failure, an answer that a profile withheld, nothing found, the part of the question without an answer, an answer that is not sure
    enough, and the limit that was reached; after what the last step says.
    """
    tree: Tree = state["tree"]
    said = shorten_note(state["explanation"]).rest
    if state["error"]:
        return str(state["error"])
    if state["stopped_by"] == "error":
        notes = (branch.note for branch in tree.values())
        reasons = _join([said, *state["notices"][-1:]])
        return reasons or next(filter(None, notes), "the model gave no usable reply")
    if state.get("withheld"):
        return f"unsure: {state['withheld']}"
    default = "nothing that was found answers the question" if state["index"] else "the model does not know the answer"
    return _join([said, _reason(state, tree), EXHAUSTED.get(state["stopped_by"], "")]) or default


def _join(reasons: Sequence[str]) -> str:
    """Return reasons in one line, without those that another one contains."""
    return "; ".join(
        dict.fromkeys(reason for reason in reasons if reason and not any(reason != other and reason in other for other in reasons))
    )


def _reason(state: Mapping[str, Any], tree: Tree) -> str:
    """Return why the tree has no answer: nothing found, an open-ended question, a part without answer, or too low a confidence."""
    model = answerer_class(state["model"])
    if reason := model.unclear_reference(state["question"]):
        return reason
    if state["index"] and not state["passages"]:
        return NOTHING_FOUND
    if lost := missing_identifiers(state["question"], ("\n".join(passage.with_version()) for passage in state["passages"].values())):
        return f"{' and '.join(map(repr, lost))} occurs in none of the passages found"
    if reason := model.why_unquoted(state["question"]):
        return reason
    asked = [branch for branch in tree.values() if branch.kind == "question" and branch.status not in DROPPED]
    if (lacking := _unanswered_part(state["question"], asked)) is not None:
        return f"unsure: no answer was found to {truncate_line(lacking.question, MAX_QUOTED_CHARS)!r}"
    if not state["index"]:
        return ""
    if known := [branch for branch in asked if branch.known]:
        weakest = min(known, key=lambda branch: branch.confidence or 0.0)
        answer, question = (truncate_line(text, MAX_QUOTED_CHARS) for text in (weakest.answer, weakest.question))
        sure = f"only {confidence_figure(weakest.confidence)} sure"
        if model.tau is not None and weakest.path == ROOT:  # it is calibrated, and gives no answers of low confidence
            return f"unsure: {answer!r} was withheld, {sure}"
        how = f", {sure}," if model.tau is not None and "unsure" in shorten_note(weakest.note).words else ""
        return f"unsure: {answer!r} was found for {question!r}{how or ','} but it does not settle the whole question"
    root = next((branch for branch in asked if branch.path == ROOT and branch.confidence), None)
    if root is not None and model.tau is not None:
        return f"unsure: what was read is only {confidence_figure(root.confidence)} sure, and was withheld"
    if root is not None:
        missing = read_missing_note(root.note)
        return f"the model finds no answer in what was found{f': {missing}' if missing else ''}"
    return "none of the findings is sure enough to be the answer" if state["settled_by"] == "unsettled" else ""


def _unanswered_part(question: str, asked: list[Branch]) -> Branch | None:
    """Return the first sub-question that was asked and has no answer, the deepest one of its line."""
    missing = [branch for branch in asked if branch.answer is not None and not branch.known and branch.question != question]
    return next((part for part in missing if not any(other.path.startswith(f"{part.path}.") for other in missing)), None)
