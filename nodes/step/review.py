"""Review by a person (`ask_first`): a person approves, edits or rejects splits or answers before they are used.

The run stops with LangGraph's `interrupt`, with the request format of LangChain's human-in-the-loop middleware, and resumes with
`Command(resume={"decisions": [...]})`: one decision an action, in their order.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langgraph.func import task
from langgraph.types import interrupt
from pydantic import BaseModel, Field, ValidationError

from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.settings import TreeSettings
from ramify.nodes.step import Context, Update
from ramify.nodes.step.langgraph import has_checkpointer
from ramify.nodes.step.text import text_update
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, is_unknown
from ramify.nodes.tree.citation import Sentence
from ramify.nodes.tree.notes import confidence_figure, quote_answer
from ramify.tools.errors import UsageError
from ramify.tools.quoting import collapse_whitespace, escape_invisible, one_line, truncate_line
from ramify.tools.user_input import check_text

DECISIONS = ["approve", "edit", "reject"]
MAX_TEXT_CHARS = 2000
"""Characters of a sub-question or an answer that a person writes."""
MAX_SHOWN_CHARS, MAX_QUOTED_CHARS, MAX_REASON_CHARS = 300, 120, 200
"""Characters of a text in a description, of a value that is refused, and of why a person rejected something."""
ANSWER = "answer"
"""The argument of an action that is an answer."""
DECISIONS_FORM = '{"decisions": [{"type": "approve"}]}, with one decision for each action: approve, reject, or edit with an edited_action'


class EditedAction(BaseModel):
    """A person's replacement of an action."""

    name: str
    args: dict[str, str]


class ReviewDecision(BaseModel):
    """What a person decided on an action."""

    type: Literal["approve", "edit", "reject"]
    edited_action: EditedAction | None = None
    message: str | None = None
    """Why it was rejected."""

    @property
    def args(self) -> dict[str, str]:
        """Return the edited arguments."""
        return self.edited_action.args if self.edited_action else {}

    @property
    def reason(self) -> str:
        """Return that a person rejected it, with the reason if there is one."""
        why = truncate_line((self.message or "").replace(";", ","), MAX_REASON_CHARS)  # in a note, semicolons divide
        return f"rejected by a person{why and f': {why}'}"


class _ReviewDecisions(BaseModel):
    decisions: list[ReviewDecision] = Field(min_length=1)


@dataclass(frozen=True)
class ReviewAction:
    """An action that a person reviews."""

    name: str
    args: dict[str, str]
    """What can be edited."""
    description: str
    check: Callable[[Mapping[str, str]], object] = bool
    """Raises UsageError for edited arguments that cannot be used."""


def check_checkpointer() -> None:
    """Raise UsageError if there is no checkpointer, so that the run could not be resumed after a review."""
    if not has_checkpointer():
        what = "ask_first stops the run for a person's review, and without a checkpointer it cannot be resumed"
        raise UsageError(what, "compile the outermost graph with a checkpointer, or set ask_first=never")


async def review(actions: Sequence[ReviewAction]) -> list[ReviewDecision]:
    """Stop the run until a person has decided on each action; invalid decisions are requested again, with the reason.

    The time it takes does not count against the budget of seconds.
    """
    asked: float = await _review_started()
    refused = ""
    while True:
        try:
            decisions = _parse_decisions(interrupt(_request(actions, refused)), actions)
        except UsageError as error:
            refused = str(error)
            continue
        CALL_CONTEXT.get().review_s += max(time.time() - asked, 0.0)
        return decisions


async def _time() -> float:
    return time.time()


_review_started: Any = task(name="ask_first")(cast(Any, _time))
"""Returns the time; in a resumed run that of the first request, because the task's result is stored."""


def _request(actions: Sequence[ReviewAction], refused: str) -> dict[str, Any]:
    """Return the request in the format of LangChain's middleware."""
    before = f"Not understood: {one_line(refused)}\n" if refused else ""
    return {
        "action_requests": [
            {"name": action.name, "args": action.args, "description": f"{before}{action.description}"} for action in actions
        ],
        "review_configs": [{"action_name": action.name, "allowed_decisions": DECISIONS} for action in actions],
    }


def _parse_decisions(answer: object, actions: Sequence[ReviewAction]) -> list[ReviewDecision]:
    """Return the parsed decisions; UsageError if they are invalid or cannot be applied."""
    try:
        decisions = _ReviewDecisions.model_validate(answer).decisions
    except ValidationError:
        what = f"{truncate_line(repr(answer), MAX_QUOTED_CHARS)} is not a valid list of decisions"
        raise UsageError(what, f"resume with {DECISIONS_FORM}") from None
    if len(decisions) != len(actions):
        raise UsageError(f"{len(decisions)} decisions were given for {len(actions)} actions", f"resume with {DECISIONS_FORM}")
    return [
        _check_edit(decision, action) if decision.type == "edit" else decision for decision, action in zip(decisions, actions, strict=True)
    ]


def _check_edit(decision: ReviewDecision, action: ReviewAction) -> ReviewDecision:
    """Return an edit with all arguments of the action; UsageError if it cannot be applied."""
    edited = decision.edited_action
    if edited is None or edited.name != action.name:
        raise UsageError(
            f"an edit of {action.name!r} names {edited and truncate_line(edited.name, MAX_QUOTED_CHARS)!r}",
            f"give an edited_action of {action.name!r}",
        )
    if unknown := sorted(edited.args.keys() - action.args.keys()):
        raise UsageError(
            f"{action.name} has no argument {truncate_line(unknown[0], MAX_QUOTED_CHARS)!r}", f"it has {', '.join(action.args)}"
        )
    for name, value in edited.args.items():
        if len(check_text(value)) > MAX_TEXT_CHARS:
            raise UsageError(f"{name} has {len(value):,} characters", f"write at most {MAX_TEXT_CHARS:,}")
    args = {**action.args, **edited.args}
    action.check(args)
    return decision.model_copy(update={"edited_action": EditedAction(name=action.name, args=args)})


def to_argument(text: str | None) -> str:
    """Return a text on one line for editing, without invisible characters."""
    return escape_invisible(collapse_whitespace(text or ""), lambda character: "")


def quote_text(text: str | None) -> str:
    """Return a model's text quoted as code on one line, so that no interface renders links or pictures in it."""
    return f"`{truncate_line(one_line(text or '').replace('`', chr(39)), MAX_SHOWN_CHARS)}`"


def format_confidence(confidence: float | None, settings: TreeSettings) -> str:
    """Return an answer's confidence compared with tau, as text."""
    return f"confidence {confidence_figure(confidence)}, not above tau {settings.threshold:g}"


def check_answer(args: Mapping[str, str]) -> None:
    """Raise UsageError for an empty or Unknown answer."""
    if is_unknown(args[ANSWER]):
        raise UsageError(
            f"the edited answer {truncate_line(args[ANSWER], MAX_QUOTED_CHARS)!r} is empty or Unknown",
            "write an answer, or reject the one found",
        )


def apply_decision(branch: Branch, decision: ReviewDecision) -> Branch:
    """Return a branch with a person's decision applied to its answer: unchanged, replaced, or Unknown."""
    if decision.type == "approve":
        return branch.with_status(branch.status, note=branch.with_note("approved by a person"))
    if decision.type == "reject":
        note = branch.with_note(f"{quote_answer(branch.answer)} was {decision.reason}")
        return branch.with_status(branch.status, answer=UNKNOWN, confidence=None, confidence_source=None, cited=(), note=note)
    note = branch.with_note(f"a person's answer, instead of {quote_answer(branch.answer)}")
    changes: dict[str, Any] = {
        "answer": collapse_whitespace(decision.args[ANSWER]),
        "confidence": 1.0,
        "confidence_source": "person",
        "cited": (),
    }
    return branch.with_status(branch.status, **changes, objection="", note=note)


async def confirm_answer(context: Context[Any], update: Update) -> Update:
    """Have a person review an unsure answer before it is returned (`ask_first=unsure`); a rejected one becomes Unknown."""
    settings, answer = context.settings, str(update["answer"])
    confidence = update.get("confidence")
    root = {**context.tree, **update.get("tree", {})}[ROOT].model_copy(update={"answer": answer, "confidence": confidence})
    if not root.known or context.accepts(root):
        return update
    sources = dict.fromkeys(citation.where for citation in update.get("citations", []) if citation.cited)
    lines = [f"Give this answer to {quote_text(context.state['question'])}? {format_confidence(confidence, settings).capitalize()}."]
    lines += [f"Source: {quote_text(source)}" for source in list(sources)[:3]]
    [decision] = await review([ReviewAction("give_answer", {ANSWER: to_argument(answer)}, "\n".join(lines), check_answer)])
    if decision.type == "approve":
        return update
    changed = apply_decision(root, decision)
    result: dict[str, Any] = {name: getattr(changed, name) for name in ("answer", "confidence", "confidence_source")}
    result |= {"tree": {**update.get("tree", {}), ROOT: changed}, "text": "", "sentences": [], "quoted": False}
    if decision.type == "reject":
        return {**update, **result, "citations": [], "explanation": f"{quote_answer(answer)} was {decision.reason}"}
    if settings.style != "short":
        result |= text_update([[Sentence(text=result["answer"])]])
    uncited = [citation.model_copy(update={"cited": False}) for citation in update.get("citations", [])]  # it does not rest on them
    notice = f"the answer is a person's; the model's was {quote_answer(answer)}, {format_confidence(confidence, settings)}"
    return {**update, **result, "citations": uncited, "notices": [*update.get("notices", ()), notice]}
