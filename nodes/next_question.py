"""next_question: ask the next sub-question of a chain, or stop (CoR-RAG)."""

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import ChainSettings, Settings
from ramify.nodes.state import State
from ramify.nodes.step import UNSPLIT, Growth, despite, each, grow
from ramify.nodes.step.findings import finding
from ramify.nodes.step.selection import Selection
from ramify.nodes.tree import Branch, Passage, Value, ancestors, wording
from ramify.nodes.tree.references import filled, normal
from ramify.prompts import NEXT_QUESTION
from ramify.tools.errors import ReplyError


class Link(Value):
    """The tip of a chain with all that was asked before it."""

    branch: Branch
    history: tuple[Branch, ...]
    passages: tuple[Passage, ...] = ()
    """What their answers rest on."""


def _tip(state: State, branch: Branch, settings: Settings) -> Link:
    history = tuple(ancestors(state["tree"], branch.path))
    cited = {key for link in (*history, branch) for key in link.cited}
    return Link(branch=branch, history=history, passages=tuple(state["passages"][key] for key in sorted(cited & state["passages"].keys())))


@each(Selection(frozenset({"growing", "answered"}), _tip), gives=("split", "inner", "leaf", "open"))
async def next_question(link: Link, settings: ChainSettings) -> Growth:
    """Ask the next sub-question; stop when the history suffices, at the longest chain, or on a repetition."""
    tip = link.branch
    if tip.status == "answered" and not link.history:
        return grow(tip.to("leaf"))
    if tip.depth >= settings.max_depth:
        return grow(tip.to("leaf", note=f"the chain is {settings.max_depth} long"))
    asked = [*link.history[1:], tip] if link.history else []
    question = (link.history or (tip,))[0].question
    passages = {passage.id: passage for passage in link.passages}
    chain = [*link.history, tip]  # each hangs from all before it
    history = [finding(branch, passages, chain[: branch.depth]) for branch in asked]
    try:
        reply = await ask(NEXT_QUESTION, field="question", question=question, history=history)
    except ReplyError as error:
        return despite(error, tip.to("open" if tip.answer is None else "leaf"), UNSPLIT if not asked else "the chain ends here")
    wanted = filled(normal(reply.value.question, [question]), [branch.answer if branch.known else None for branch in asked])
    if asked and wanted is None:
        return grow(tip.to("leaf", note=f"the sub-question refers to an answer that is not there: {reply.value.question!r}"))
    following = Branch(path=f"{tip.path}.0", question=wanted or question)
    repeated = wording(following) in {wording(branch) for branch in asked}
    if asked and (reply.value.done or repeated):
        return grow(tip.to("leaf", note="the sub-question repeats" if repeated and not reply.value.done else "the history suffices"))
    if not link.history:
        return grow(tip.to("split", together=reply.value.together), following)
    root = link.history[0]
    told = [root.to(root.status, together=reply.value.together)] if reply.value.together else []
    return grow(*told, tip.to("inner"), following)
