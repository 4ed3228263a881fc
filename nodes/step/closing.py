"""How a question ends: how sure its answer is, its text, and what a profile does to it (`profile`), which withholds or fits."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.settings import UNSURE
from ramify.nodes.step import Context, Step, Update
from ramify.nodes.step.review import confirm_answer
from ramify.nodes.step.text import complete, in_lines
from ramify.nodes.tree import DROPPED, ROOT, UNKNOWN, WORKING, Tree, branches_below, is_unknown
from ramify.nodes.tree.citation import Sentence
from ramify.nodes.tree.notes import NOTHING, named
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.index.searcher import digest_of
from ramify.tools.profile import Profile, load_profile


def final_step(act: Callable[[Any], Awaitable[Update]]) -> Step:
    """Make a question's last step of an async function of a context; it returns the state's update, with the answer.

    It begins when all is settled; then it says how sure the answer is, and adds its text (`style=full`). UsageError where a branch still
    wants work that no edge of this graph leads to.
    """

    async def close(context: Context[Any]) -> Update:
        state = context.state
        if left := [branch for branch in context.tree.values() if branch.status in WORKING]:
            what = f"branch {left[0].path!r} is {left[0].status!r} and no step of this graph takes it"
            raise UsageError(what, "edit its status: open is searched and answered again, leaf or pruned is settled")
        update = {"answer": state["answer"], **await act(context)}
        model: Answerer | None
        try:
            model = await asyncio.to_thread(current_model, CURRENT.get().settings)
        except ModelError:  # it has gone meanwhile: the question has its result without it
            model = None
        if is_unknown(str(update["answer"])):
            update |= {"confidence": None, "confidence_source": None}
            if _all_failed(context.tree) or (model is not None and model.objection(state["question"])):
                stopped = update.get("stopped_by", state["stopped_by"]) != "finished"
                return update if stopped else {**update, "stopped_by": "error"}
        elif update.get("confidence_source") != "reader":  # of the embedded model, it is already that of all hops together
            update["confidence"] = min(update["confidence"], _weakest(context.tree, update))
        if model is not None:
            update = await complete(state, context.settings, model, update)
        if context.settings.profile is not None or context.settings.reviewed == UNSURE:
            update = await _accepted(context, update)
        return update

    close.__name__, close.__doc__ = act.__name__, act.__doc__
    return Step(act.__name__, close, "state", final=True)


def _weakest(tree: Tree, update: Update) -> float:
    """Return the lowest confidence of the branches that an answer rests on, 1 where there are none: it is not surer than that."""
    cited = {citation.id for citation in update.get("citations", []) if citation.cited}
    known = [branch for branch in tree.values() if branch.known and branch.kind == "question" and branch.status not in DROPPED]
    hops = [branch for branch in known if branch.path != ROOT and cited.intersection(branch.cited)]
    return min((branch.confidence for branch in hops if branch.confidence is not None), default=1.0)


def _all_failed(tree: Tree) -> bool:
    """Tell whether errors are all that came of a question: then it was not answered Unknown, it was not asked."""
    below = branches_below(tree)
    ends = [branch for branch in tree.values() if not below[branch.path]]
    return ROOT in tree and all(end.status == "failed" and end.answer is None and not end.note.endswith(NOTHING) for end in ends)


async def _accepted(context: Context[Any], update: Update) -> Update:
    """Apply the profile, if there is one, to the update that concludes a question, and ask a person about the answer if that is wanted."""
    if context.settings.profile is None:
        return await confirm_answer(context, update)
    profile = await asyncio.to_thread(load_profile, context.settings.profile)
    if told := await asyncio.to_thread(_differences, context, profile):
        notice = f"the profile was calibrated otherwise ({'; '.join(told)}): its bound does not hold here"
        update = {**update, "notices": [*update.get("notices", []), notice]}
    if not is_unknown(str(update["answer"])) and profile.withholds(update.get("confidence") or 0.0):
        return {**update, **_withheld(context, update, profile)}
    found = await confirm_answer(context, update) if context.settings.reviewed == UNSURE else update
    if not profile.curve or is_unknown(str(found["answer"])) or found.get("confidence_source") == "person":
        return found
    return {**found, "confidence": profile.fitted(found.get("confidence") or 0.0), "confidence_source": "profile"}


def _differences(context: Context[Any], profile: Profile) -> list[str]:
    """List in what the question differs from those that the profile was calibrated on."""
    settings = context.settings
    own = {name: getattr(settings, name) for name in profile.made_of.settings if name in type(settings).model_fields}
    index = digest_of(settings.index) if context.state["index"] and profile.made_of.indexes else None
    return profile.differences(context.strategy, context.state["model"], index, own)


def _withheld(context: Context[Any], update: Update, profile: Profile) -> Update:
    """Return Unknown with the reason; what the answer rested on is shown as what comes closest."""
    confidence, threshold = (f"{round(value, 4):g}" for value in (update.get("confidence") or 0.0, profile.threshold))
    why = f"its confidence, {confidence}, is not above {threshold}, which the profile asks for so that {profile.promise}"
    closest = [one.model_copy(update={"cited": False, "closest": True}) for one in update.get("citations", [])]
    quoted = [[Sentence(text=one.quote, citations=(number,))] for number, one in enumerate(closest, 1) if one.quote]
    return {
        "answer": UNKNOWN,
        "confidence": None,
        "confidence_source": None,
        "withheld": f"{named(str(update['answer']))} was withheld: {why}",
        "citations": closest,
        **in_lines([] if context.settings.style == "short" else quoted, quoted=True),
    }
