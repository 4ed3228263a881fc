"""What every last step does beside its answer: say whether the question could be asked at all, and what comes closest where in doubt."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ramify.nodes.asking.ask import Answerer, current_model
from ramify.nodes.asking.budget import CURRENT
from ramify.nodes.state import State
from ramify.nodes.step.context import Context
from ramify.nodes.step.findings import ranked
from ramify.nodes.step.step import Update
from ramify.nodes.tree import DROPPED, ROOT, WORKING, Tree, children, is_unknown
from ramify.nodes.tree.citation import Citation, cite, headings
from ramify.nodes.tree.notes import NOTHING
from ramify.prompts.prompt import Quote
from ramify.tools.errors import ModelError, UsageError

_DOUBTED = 0.3
"""An answer less sure than this is rather wrong than right: what comes closest is shown beside it."""


def final_step(act: Callable[[Any], Awaitable[Update]]) -> Callable[[Any], Awaitable[Update]]:
    """Let a last step begin when all is settled, and go on to what is said of a question without an answer, or with one in doubt."""

    async def close(context: Context[Any]) -> Update:
        state = context.state
        check_settled(state)
        update = await act(context)
        answered = not is_unknown(str(update.get("answer", state["answer"])))
        if answered and update.get("confidence", 1.0) >= _DOUBTED:
            return update
        model = await _model()
        if not answered and (_all_failed(state["tree"]) or (model is not None and model.objection(state["question"]))):
            stopped = update.get("stopped_by", state["stopped_by"]) != "finished"
            return update if stopped else {**update, "stopped_by": "error"}
        if model is None:
            return update
        said = {(citation.id, citation.quote) for citation in update.get("citations", [])} if answered else set()
        found = await _closest(context, model)
        return {**update, "closest": [citation for citation in found if (citation.id, citation.quote) not in said]}

    close.__name__, close.__doc__ = act.__name__, act.__doc__
    return close


def check_settled(state: State) -> None:
    """Raise UsageError where a branch still wants work that no edge of this graph leads to."""
    left = [branch for branch in state["tree"].values() if branch.status in WORKING]
    if left:
        what = f"branch {left[0].path!r} is {left[0].status!r} and no step of this graph takes it"
        raise UsageError(what, "edit its status: open is searched and answered again, leaf or pruned is settled")


async def _model() -> Answerer | None:
    """Find the model; none where it has gone meanwhile: the question has its result without it."""
    try:
        return await asyncio.to_thread(current_model, CURRENT.get().settings)
    except ModelError:
        return None


def _all_failed(tree: Tree) -> bool:
    """Tell whether errors are all that came of a question: then it was not answered Unknown, it was not asked."""
    ends = [branch for branch in tree.values() if not children(tree, branch.path)]
    return ROOT in tree and all(end.status == "failed" and end.answer is None and not end.note.endswith(NOTHING) for end in ends)


async def _closest(context: Context[Any], model: Answerer) -> list[Citation]:
    """Ask the model for the sentences that come closest; one that can answer in words of its own has none to give."""
    passages = ranked(context.state, [branch for branch in context.tree.values() if branch.status not in DROPPED])
    above = [" > ".join(dict.fromkeys(filter(None, headings(passage)))) for passage in passages]
    quotes = [Quote(title=title, source=passage.source, text=passage.text) for title, passage in zip(above, passages, strict=True)]
    found = await asyncio.to_thread(model.closest, context.state["question"], quotes) if quotes else []
    return cite([passages[number - 1] for number, _ in found], [quote for _, quote in found], cited=False)
