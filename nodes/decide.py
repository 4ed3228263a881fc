"""decide: answer, decompose or name entities, in one call a branch (PruneRAG, joint)."""

from typing import Any

from ramify.nodes.answer import answer_question, summarize
from ramify.nodes.asking.ask import Reply, ask
from ramify.nodes.decompose import children_of, usable
from ramify.nodes.extract_entities import distinct
from ramify.nodes.settings import PruneSettings
from ramify.nodes.step import UNSPLIT, Each, Growth, despite, each, grow
from ramify.nodes.step.conditions import within_depth
from ramify.nodes.step.selection import Fork, Found, reading
from ramify.nodes.tree import Branch
from ramify.nodes.tree.notes import SEARCHED
from ramify.prompts.decide import WAYS as WAYS
from ramify.prompts.decide import decide_by, whole
from ramify.tools.errors import ReplyError
from ramify.tools.quoting import LONGEST_ANSWER, brief


def decide(ways: tuple[str, ...] = WAYS) -> Each[Found, PruneSettings]:
    """Make the joint step; fewer ways are an ablation."""
    may = "".join(f"Do not choose {way}. " for way in WAYS if way not in ways)

    @each(reading("found"), gives=("answered", "split", "open", "waiting", "leaf"), once=True)
    async def decide(found: Found, settings: PruneSettings) -> Growth:
        """Answer, decompose or name entities; at the depth limit only the passages are kept."""
        branch = found.branch
        if not within_depth(branch, settings) and not found.awaited and found.parent is not None:
            return grow(branch.to("leaf", note=branch.noted(SEARCHED)))
        if branch.kind == "entity":
            return await summarize(found)
        if not within_depth(branch, settings):
            return await answer_question(found)
        slots: dict[str, Any] = {"question": branch.question, "dependent": settings.dependent, "hint": hint(found), "may": may}
        try:
            reply = await ask(decide_by(ways), found.passages, **slots)
        except ReplyError as error:
            if not _wanted(found):
                raise
            return despite(error, await _itself(found), UNSPLIT)
        if (followed := _follow(found, reply, settings)) is not None:
            return followed
        left = await _itself(found) if _wanted(found) else branch
        return grow(left.to("leaf", note=left.noted(f"chose {reply.value.action} but named nothing that can be asked")))

    return decide


def hint(found: Found) -> str:
    """Tell the model that its earlier answer to the same question was not sure enough."""
    if found.parent is None or found.parent.question != found.branch.question:
        return ""
    answer = brief(found.parent.answer, LONGEST_ANSWER)
    return f"You answered {answer!r} before and were not sure. Reconsider: look at the passages again, or choose another way."


def _follow(found: Found, reply: Reply[Any], settings: PruneSettings) -> Growth | None:
    """Do what was decided; None where the reply names nothing that can be asked."""
    decision, branch = whole(reply.value), found.branch
    given = Fork(branch=branch, children=(), above=found.above)
    if decision.action == "decompose" and (questions := usable(decision.questions, given, settings)):
        return grow(branch.to("split", together=decision.together), *children_of(given, questions))
    if decision.action == "entities" and (names := distinct(decision.entities)):
        return grow(branch.to("split"), *children_of(given, names, "entity"))
    if decision.action != "answer" and not decision.answer:
        return None
    answered = branch.to(
        "answered",
        answer=decision.answer.strip(),
        confidence=reply.confidence,
        confidence_source=reply.confidence_source,
        cited=reply.cited(),
    )
    return grow(answered)


def _wanted(found: Found) -> bool:
    """Tell whether a branch that does not grow is to be answered all the same: nothing else would come of the question."""
    return found.parent is None or found.awaited


async def _itself(found: Found) -> Branch:
    """Answer a branch from its own passages, for good."""
    return (await answer_question(found, "leaf")).branches[0]
