"""The final step: the answer's confidence and text, and the profile (`profile`), which withholds an answer or corrects its confidence."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.settings import UNSURE
from ramify.nodes.state import State
from ramify.nodes.step import Context, Step, Update
from ramify.nodes.step.likelihood import answer_likelihood
from ramify.nodes.step.reasons import unknown_reason
from ramify.nodes.step.review import confirm_answer
from ramify.nodes.step.text import add_text, text_update
from ramify.nodes.tree import ROOT, UNKNOWN, WORKING, Tree, branches_below, is_unknown
from ramify.nodes.tree.citation import Sentence
from ramify.nodes.tree.notes import NOT_FOUND, quote_answer
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.profile import Profile, load_profile
from ramify.tools.reader import find_reader
from ramify.tools.search.searcher import digest_of


def final_step(act: Callable[[Any], Awaitable[Update]]) -> Step:
    """Make a question's last step of an async function of a context; it returns the state's update, with the answer.

    It runs when all branches are settled, and adds confidence and text. UsageError if a branch is unsettled and no
    edge of this graph leads to it.
    """

    async def close(context: Context[Any]) -> Update:
        if left := [branch for branch in context.tree.values() if branch.status in WORKING]:
            what = f"branch {left[0].path!r} has the status {left[0].status!r}, and no step of this graph processes it"
            raise UsageError(what, "edit its status: `open` to search and answer it again, `leaf` or `pruned` to settle it")
        update = await _conclude(context, {"answer": context.state["answer"], **await act(context)})
        if is_unknown(str(update["answer"])):
            state: dict[str, Any] = {**context.state, **update}
            merged = {name: {**context.state[name], **update.get(name, {})} for name in ("tree", "passages")}
            notices = [*context.state["notices"], *update.get("notices", [])]
            update["explanation"] = await asyncio.to_thread(unknown_reason, {**state, **merged, "notices": notices})
        return update

    close.__name__, close.__doc__ = act.__name__, act.__doc__
    return Step(act.__name__, close, "state", final=True)


def _version_remarks(state: State, update: Update) -> list[str]:
    """Return which other versions of the cited documents say something else than the answer; blocking."""
    answer, passages = str(update["answer"]), {**state["passages"], **update.get("passages", {})}
    cited = [citation.id for citation in update.get("citations", []) if citation.cited and citation.id in passages]
    if is_unknown(answer) or not any(passages[key].version for key in cited) or (reader := find_reader()) is None:
        return []
    others = [passage.with_version() for key, passage in passages.items() if key not in cited]
    return [
        f"another version says otherwise: {quote_answer(other.value)} in {other.passage.source} ({other.passage.version})"
        for key in cited
        for other in reader.contradictions(state["question"], answer, passages[key].with_version(), others)
    ]


async def _conclude(context: Context[Any], update: Update) -> Update:
    """Return the final update with the answer's confidence and text, and the profile applied."""
    state = context.state
    model: Answerer | None
    try:
        model = await asyncio.to_thread(current_model, CALL_CONTEXT.get().settings)
    except ModelError:  # it has gone meanwhile: the question has its result without it
        model = None
    if is_unknown(str(update["answer"])):
        update |= {"confidence": None, "confidence_source": None}
        if _all_failed(context.tree) or (model is not None and model.objection(state["question"])):
            stopped = update.get("stopped_by", state["stopped_by"]) != "finished"
            return update if stopped else {**update, "stopped_by": "error"}
    elif update.get("confidence_source") != "reader":  # of the embedded model, it is already that of all hops together
        update["confidence"] = await asyncio.to_thread(answer_likelihood, context, update)
    if model is not None:
        update = await add_text(state, context.settings, model, update)
    if remarks := await asyncio.to_thread(_version_remarks, state, update):
        update = {**update, "notices": list(dict.fromkeys([*update.get("notices", state["notices"]), *remarks]))}
    if context.settings.profile is not None or context.settings.reviewed == UNSURE:
        update = await _apply_profile(context, update)
    return update


def _all_failed(tree: Tree) -> bool:
    """Return whether all branches failed: then the question was not answered with Unknown, but not asked."""
    below = branches_below(tree)
    ends = [branch for branch in tree.values() if not below[branch.path]]
    return ROOT in tree and all(end.status == "failed" and end.answer is None and not end.note.endswith(NOT_FOUND) for end in ends)


async def _apply_profile(context: Context[Any], update: Update) -> Update:
    """Return the final update with the profile applied, if there is one, and reviewed by a person, if requested."""
    if context.settings.profile is None:
        return await confirm_answer(context, update)
    profile = await asyncio.to_thread(load_profile, context.settings.profile)
    if differences := await asyncio.to_thread(_differences, context, profile):
        notice = f"the profile was calibrated for other conditions ({'; '.join(differences)}): its bound does not hold here"
        update = {**update, "notices": [*update.get("notices", []), notice]}
    if not is_unknown(str(update["answer"])) and profile.withholds(update.get("confidence") or 0.0):
        return {**update, **_withhold(context, update, profile)}
    reviewed = await confirm_answer(context, update) if context.settings.reviewed == UNSURE else update
    if not profile.curve or is_unknown(str(reviewed["answer"])) or reviewed.get("confidence_source") == "person":
        return reviewed
    return {**reviewed, "confidence": profile.fitted(reviewed.get("confidence") or 0.0), "confidence_source": "profile"}


def _differences(context: Context[Any], profile: Profile) -> list[str]:
    """List the differences from the conditions under which the profile was calibrated."""
    settings = context.settings
    own = {name: getattr(settings, name) for name in profile.made_of.settings if name in type(settings).model_fields}
    index = digest_of(settings.index) if context.state["index"] and profile.made_of.indexes else None
    return profile.differences(context.strategy, context.state["model"], index, own)


def _withhold(context: Context[Any], update: Update, profile: Profile) -> Update:
    """Return an update with Unknown and the reason; the withheld answer's citations are shown as closest passages."""
    confidence, threshold = (f"{round(value, 4):g}" for value in (update.get("confidence") or 0.0, profile.threshold))
    why = f"its confidence, {confidence}, is not above {threshold}, the profile's threshold, so that {profile.promise}"
    closest = [citation.model_copy(update={"cited": False, "closest": True}) for citation in update.get("citations", [])]
    quoted = [[Sentence(text=citation.quote, citations=(number,))] for number, citation in enumerate(closest, 1) if citation.quote]
    return {
        "answer": UNKNOWN,
        "confidence": None,
        "confidence_source": None,
        "withheld": f"{quote_answer(str(update['answer']))} was withheld: {why}",
        "citations": closest,
        **text_update([] if context.settings.style == "short" else quoted, quoted=True),
    }
