"""A person's review (`ask_first`): what is proposed is shown before it counts, and a person approves, edits or rejects it.

The run stops by LangGraph's `interrupt`, with the request that LangChain's human-in-the-loop middleware makes, and goes on by
`Command(resume={"decisions": [...]})`: one decision an action, in their order.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.func import task
from langgraph.types import interrupt
from pydantic import BaseModel, Field, ValidationError

from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.settings import TreeSettings
from ramify.nodes.step import Context, Update
from ramify.nodes.step.text import in_lines
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, is_unknown
from ramify.nodes.tree.citation import Sentence
from ramify.nodes.tree.notes import named
from ramify.nodes.tree.phrases import figure
from ramify.tools.errors import UsageError
from ramify.tools.quoting import collapse_whitespace, escape_invisible, one_line, truncate_line
from ramify.tools.user_input import check_text

DECISIONS = ["approve", "edit", "reject"]
LONGEST = 2000
"""Characters of a sub-question or an answer that a person writes."""
SHOWN, QUOTED, REASON = 300, 120, 200
"""Characters of a text in a description, of a value that is refused, and of why a person rejected something."""
ANSWER = "answer"
"""The argument of an action that is an answer."""
FORM = '{"decisions": [{"type": "approve"}]}, with one decision for each action: approve, reject, or edit with an edited_action'


class EditedAction(BaseModel):
    """What a person puts in the place of an action."""

    name: str
    args: dict[str, str]


class Decision(BaseModel):
    """What a person decided on an action."""

    type: Literal["approve", "edit", "reject"]
    edited_action: EditedAction | None = None
    message: str = ""
    """Why it was rejected."""

    @property
    def args(self) -> dict[str, str]:
        """Return the edited arguments."""
        return self.edited_action.args if self.edited_action else {}

    @property
    def reason(self) -> str:
        """Say who rejected it, and why where a reason was given."""
        why = truncate_line(self.message.replace(";", ","), REASON)  # in a note, semicolons divide
        return f"rejected by a person{why and f': {why}'}"


class _Decisions(BaseModel):
    decisions: list[Decision] = Field(min_length=1)


@dataclass(frozen=True)
class Action:
    """What a person is asked about."""

    name: str
    args: dict[str, str]
    """What can be edited."""
    description: str
    check: Callable[[Mapping[str, str]], object] = bool
    """Raises UsageError for edited arguments that cannot be used."""


def check_can_ask() -> None:
    """Raise UsageError where the run, without a checkpointer, could not go on after a person was asked."""
    if not get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER):
        what = "ask_first stops the run to ask a person, and without a checkpointer it could not go on"
        raise UsageError(what, "compile the outermost graph with a checkpointer, or set ask_first=never")


async def review(actions: Sequence[Action]) -> list[Decision]:
    """Stop the run until a person has decided on each action; decisions that cannot be used are asked for again, with the reason.

    The time it takes counts against no budget of seconds.
    """
    asked: float = await _began()
    refused = ""
    while True:
        try:
            decisions = _read(interrupt(_request(actions, refused)), actions)
        except UsageError as error:
            refused = str(error)
            continue
        CURRENT.get().waited += max(time.time() - asked, 0.0)
        return decisions


async def _time() -> float:
    return time.time()


_began: Any = task(name="ask_first")(cast(Any, _time))
"""Returns the time; to a run that goes on that of its first asking, as every task does."""


def _request(actions: Sequence[Action], refused: str) -> dict[str, Any]:
    """Write the request as LangChain's middleware does."""
    before = f"Not understood: {one_line(refused)}\n" if refused else ""
    return {
        "action_requests": [
            {"name": action.name, "args": action.args, "description": f"{before}{action.description}"} for action in actions
        ],
        "review_configs": [{"action_name": action.name, "allowed_decisions": DECISIONS} for action in actions],
    }


def _read(answer: object, actions: Sequence[Action]) -> list[Decision]:
    """Read the decisions; UsageError for what is none, or cannot be carried out."""
    try:
        decisions = _Decisions.model_validate(answer).decisions
    except ValidationError:
        raise UsageError(f"{truncate_line(repr(answer), QUOTED)} is no list of decisions", f"resume with {FORM}") from None
    if len(decisions) != len(actions):
        raise UsageError(f"{len(decisions)} decisions were given for {len(actions)} actions", f"resume with {FORM}")
    return [
        _checked(decision, action) if decision.type == "edit" else decision for decision, action in zip(decisions, actions, strict=True)
    ]


def _checked(decision: Decision, action: Action) -> Decision:
    """Return an edit with all arguments of the action; UsageError where it cannot be carried out."""
    edited = decision.edited_action
    if edited is None or edited.name != action.name:
        raise UsageError(
            f"an edit of {action.name!r} names {edited and truncate_line(edited.name, QUOTED)!r}",
            f"give an edited_action of {action.name!r}",
        )
    if unknown := sorted(edited.args.keys() - action.args.keys()):
        raise UsageError(f"{action.name} has no argument {truncate_line(unknown[0], QUOTED)!r}", f"it has {', '.join(action.args)}")
    for name, value in edited.args.items():
        if len(check_text(value)) > LONGEST:
            raise UsageError(f"{name} has {len(value):,} characters", f"write at most {LONGEST:,}")
    args = {**action.args, **edited.args}
    action.check(args)
    return decision.model_copy(update={"edited_action": EditedAction(name=action.name, args=args)})


def as_argument(text: str | None) -> str:
    """Put a text on one line to be edited, without characters that nobody would see."""
    return escape_invisible(collapse_whitespace(text or ""), lambda character: "")


def as_quoted(text: str | None) -> str:
    """Quote a text from a model in a description: on one line, as code, so that no interface takes it for a link or a picture."""
    return f"`{truncate_line(one_line(text or '').replace('`', chr(39)), SHOWN)}`"


def how_sure(confidence: float | None, settings: TreeSettings) -> str:
    """Say how sure an answer is."""
    return f"confidence {figure(confidence or 0.0)}, not above tau {settings.threshold:g}"


def check_answer(args: Mapping[str, str]) -> None:
    """Raise UsageError for an answer that says nothing."""
    if is_unknown(args[ANSWER]):
        raise UsageError(
            f"the edited answer {truncate_line(args[ANSWER], QUOTED)!r} says nothing", "write an answer, or reject the one that was found"
        )


def decided(branch: Branch, decision: Decision) -> Branch:
    """Return a branch with the answer that a person decided on: as it is, another one, or Unknown."""
    if decision.type == "approve":
        return branch.to(branch.status, note=branch.noted("approved by a person"))
    if decision.type == "reject":
        note = branch.noted(f"{named(branch.answer)} was {decision.reason}")
        return branch.to(branch.status, answer=UNKNOWN, confidence=None, confidence_source=None, cited=(), note=note)
    note = branch.noted(f"a person's answer, in the place of {named(branch.answer)}")
    changes: dict[str, Any] = {
        "answer": collapse_whitespace(decision.args[ANSWER]),
        "confidence": 1.0,
        "confidence_source": "person",
        "cited": (),
    }
    return branch.to(branch.status, **changes, objection="", note=note)


async def confirm_answer(context: Context[Any], update: Update) -> Update:
    """Ask a person before an unsure answer is given (`ask_first=unsure`); one that is rejected is Unknown."""
    settings, answer = context.settings, str(update["answer"])
    confidence = update.get("confidence")
    root = {**context.tree, **update.get("tree", {})}[ROOT].model_copy(update={"answer": answer, "confidence": confidence})
    if not root.known or context.accepts(root):
        return update
    sources = dict.fromkeys(one.where for one in update.get("citations", []) if one.cited)
    told = [f"Give this answer to {as_quoted(context.state['question'])}? {how_sure(confidence, settings).capitalize()}."]
    told += [f"Source: {as_quoted(source)}" for source in list(sources)[:3]]
    [decision] = await review([Action("give_answer", {ANSWER: as_argument(answer)}, "\n".join(told), check_answer)])
    if decision.type == "approve":
        return update
    changed = decided(root, decision)
    found: dict[str, Any] = {name: getattr(changed, name) for name in ("answer", "confidence", "confidence_source")}
    found |= {"tree": {**update.get("tree", {}), ROOT: changed}, "text": "", "sentences": [], "quoted": False}
    if decision.type == "reject":
        return {**update, **found, "citations": [], "explanation": f"{named(answer)} was {decision.reason}"}
    if settings.style == "full":
        found |= in_lines([[Sentence(text=found["answer"])]])
    uncited = [one.model_copy(update={"cited": False}) for one in update.get("citations", [])]  # it does not rest on them
    notice = f"the answer is a person's; the model's was {named(answer)}, {how_sure(confidence, settings)}"
    return {**update, **found, "citations": uncited, "notices": [*update.get("notices", ()), notice]}
