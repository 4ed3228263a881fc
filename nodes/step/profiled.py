"""What a profile does to an answer (`profile`): one that is not sure enough is withheld, of any other the confidence is fitted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ramify.nodes.step.text import in_lines
from ramify.nodes.tree import UNKNOWN, is_unknown
from ramify.nodes.tree.citation import Sentence
from ramify.nodes.tree.notes import named
from ramify.tools.index.searcher import digest_of
from ramify.tools.profile import Profile, load_profile

Update = dict[str, Any]


async def by_profile(context: Any, update: Update, confirm: Callable[[Any, Update], Awaitable[Update]]) -> Update:
    """Apply the profile, if there is one, to the update that concludes a question; `confirm` asks a person before an answer is given."""
    if context.settings.profile is None:
        return await confirm(context, update)
    profile = await asyncio.to_thread(load_profile, context.settings.profile)
    if told := await asyncio.to_thread(_differences, context, profile):
        notice = f"the profile was calibrated otherwise ({'; '.join(told)}): its bound does not hold here"
        update = {**update, "notices": [*update.get("notices", []), notice]}
    if not is_unknown(str(update["answer"])) and profile.withholds(update.get("confidence") or 0.0):
        return {**update, **_withheld(context, update, profile)}
    found = await confirm(context, update)
    if not profile.curve or is_unknown(str(found["answer"])) or found.get("confidence_source") == "person":
        return found
    return {**found, "confidence": profile.fitted(found.get("confidence") or 0.0), "confidence_source": "profile"}


def _differences(context: Any, profile: Profile) -> list[str]:
    """List in what the question differs from those that the profile was calibrated on."""
    settings = context.settings
    own = {name: getattr(settings, name) for name in profile.made_of.settings if name in type(settings).model_fields}
    index = digest_of(settings.index) if context.state["index"] and profile.made_of.indexes else None
    return profile.differences(context.strategy, context.state["model"], index, own)


def _withheld(context: Any, update: Update, profile: Profile) -> Update:
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
