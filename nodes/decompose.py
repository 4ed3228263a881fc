"""decompose: split a question into two (ToR-RAG §4; PruneRAG, staged)."""

from ramify.nodes.ask import ask
from ramify.nodes.conditions import within_depth
from ramify.nodes.despite import UNSPLIT, despite
from ramify.nodes.holes import HOLE, holes, normal
from ramify.nodes.select import Fork, fork
from ramify.nodes.settings import TreeSettings
from ramify.nodes.step import Growth, each, grow
from ramify.nodes.tree import ROOT, Branch, Kind, Status, position
from ramify.nodes.twins import wording
from ramify.prompts import DECOMPOSE
from ramify.tools.errors import ReplyError
from ramify.tools.quoting import one_line


@each(fork("growing"), gives=("split", "open", "waiting"))
async def decompose(given: Fork, settings: TreeSettings) -> Growth:
    """Split a question in two; a simple one becomes a leaf, or is answered whole where it has no answer yet."""
    simple: Status = "open" if given.branch.answer is None else "leaf"
    return await _split(given, settings, simple)


@each(fork("growing"), gives=("split", "open", "waiting", "atomic"), name="decompose")
async def decompose_or_name(given: Fork, settings: TreeSettings) -> Growth:
    """Split a question in two; one that cannot be split wants its entities named."""
    return await _split(given, settings, "atomic")


async def _split(given: Fork, settings: TreeSettings, simple: Status) -> Growth:
    branch = given.branch.to(given.branch.status, attempts=given.branch.attempts + 1)
    if not within_depth(branch, settings):
        return grow(branch.to(simple, note=branch.noted("at the depth limit")))
    pruned = [child for child in given.children if child.status == "pruned"]
    rejected = [f"{child.question} ({child.note})" for child in pruned]
    try:
        reply = await ask(DECOMPOSE, question=branch.question, dependent=settings.dependent, rejected=rejected)
    except ReplyError as error:
        return despite(error, branch.to("open" if branch.answer is None else "leaf"), UNSPLIT)
    pair = usable([reply.value.first, reply.value.second], given, settings)
    if reply.value.simple or len(pair) < 2:
        why = "simple: asks for one fact" if reply.value.simple else "the parts named for it cannot be asked"
        return grow(branch.to(simple, note=branch.noted(why)))
    grown = children_of(given, pair)
    # One that waits is compared by what it waits for: the pruned one has been filled.
    if {wording(child) for child in grown if child.status == "open"} <= {wording(child) for child in pruned}:
        return grow(branch.to(simple, note=branch.noted("no other way was found to split it")))
    return grow(branch.to("split"), *grown)


def usable(questions: list[str], given: Fork, settings: TreeSettings) -> list[str]:
    """Keep the sub-questions that can be asked: not empty, none from above again, a hole only where one can be filled."""
    above = (*given.above, given.branch.question)
    kept = [normal(one_line(text), above) for text in questions[:2] if text.strip()]
    asked = {wording(Branch(path=ROOT, question=text)) for text in above}
    if any(wording(Branch(path=ROOT, question=text)) in asked for text in kept):
        return []
    fillable: tuple[set[int], ...] = (set(), {1} if settings.dependent else set())
    return kept if all(holes(text) <= allowed for text, allowed in zip(kept, fillable, strict=False)) else []


def children_of(given: Fork, questions: list[str], kind: Kind = "question") -> list[Branch]:
    """Make the children for the next free positions; one with a hole waits for the sibling before it."""
    start = max((position(child.path)[-1] + 1 for child in given.children), default=0)
    paths = [f"{given.branch.path}.{start + n}" for n in range(len(questions))]
    return [
        Branch(path=path, question=text, kind=kind, status="waiting", awaits=before)
        if HOLE in text
        else Branch(path=path, question=text, kind=kind)
        for path, text, before in zip(paths, questions, [None, *paths], strict=False)
    ]
