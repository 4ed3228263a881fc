"""decompose: split a question into two (ToR-RAG §4; PruneRAG, staged)."""

from collections.abc import Sequence

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import PruneSettings, TreeSettings
from ramify.nodes.step import UNSPLIT, Growth, despite, each, grow
from ramify.nodes.step.conditions import within_depth
from ramify.nodes.step.selection import Fork, ReadFork, fork, read_fork
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Kind, Passage, Status, position, wording
from ramify.nodes.tree.notes import SIMPLE
from ramify.nodes.tree.notes import filled as put_in
from ramify.nodes.tree.references import HOLE, filled, holes, normal
from ramify.prompts.decompose import DECOMPOSE, DECOMPOSE_SEARCHED, keeping
from ramify.tools.errors import ReplyError
from ramify.tools.quoting import flatten

KEPT = frozenset({"question", "answer", "confidence", "confidence_source", "evidence", "cited"})
"""What a half that is carried over keeps."""


@each(fork("growing"), gives=("split", "open", "waiting", "answered"))
async def decompose(given: Fork, settings: TreeSettings) -> Growth:
    """Split a question in two; a simple one becomes a leaf, or is answered whole where it has no answer yet."""
    return await _split(given, settings, _whole(given.branch))


@each(read_fork("growing"), gives=("split", "open", "waiting", "answered"), name="decompose")
async def decompose_searched(given: ReadFork, settings: PruneSettings) -> Growth:
    """Split a question in two, with what was found for it; a simple one is left whole."""
    return await _split(given, settings, _whole(given.branch), given.passages if settings.informed else None)


@each(read_fork("growing"), gives=("split", "open", "waiting", "answered", "atomic"), name="decompose")
async def decompose_or_name(given: ReadFork, settings: PruneSettings) -> Growth:
    """Split a question in two, with what was found for it; one that cannot be split wants its entities named."""
    return await _split(given, settings, "atomic", given.passages if settings.informed else None)


def _whole(branch: Branch) -> Status:
    return "open" if branch.answer is None else "leaf"


async def _split(given: Fork, settings: TreeSettings, simple: Status, found: tuple[Passage, ...] | None = None) -> Growth:
    branch = given.branch.to(given.branch.status, attempts=given.branch.attempts + 1)
    if not within_depth(branch, settings):
        return grow(branch.to(simple, note=branch.noted("at the depth limit")))
    better = better_half(given)
    rejected = [f"{child.question} ({child.note})" for child in given.children if child.status == "pruned"]
    kept = "" if better is None else keeping(better.question, better.answer or UNKNOWN)
    prompt = DECOMPOSE if found is None else DECOMPOSE_SEARCHED
    try:
        reply = await ask(prompt, found, question=branch.question, dependent=settings.dependent, rejected=rejected, kept=kept)
    except ReplyError as error:
        return despite(error, branch.to(_whole(branch)), UNSPLIT)
    if reply.value.simple:
        return grow(branch.to(simple, note=branch.noted(SIMPLE)))
    grown = _grown(given, better, [reply.value.first, reply.value.second], settings)
    why = _refused(grown, given)
    if why:
        return grow(branch.to(simple, note=branch.noted(why)))
    # A pair that keeps its better half, in its place, is brought together as before, unless one builds on the other only now.
    as_before = better is not None and _builds(grown) == _builds(given.pair)
    return grow(branch.to("split", together=branch.together if as_before else reply.value.together), *grown)


def _builds(pair: Sequence[Branch]) -> bool:
    return any(child.awaits for child in pair)


def _grown(given: Fork, better: Branch | None, questions: list[str], settings: TreeSettings) -> list[Branch]:
    """Make a pair of what was named; after a weak one, its better half stays and only the weaker is asked anew."""
    if better is not None:  # in place of the weaker is asked whichever of the two is not the better half once more
        anew = [text for text in questions if wording(Branch(path=better.path, question=text)) != wording(better)]
        questions = [better.question, *anew[-1:]]
    pair = usable(questions, given, settings)
    if len(pair) < 2:
        return []
    return children_of(given, pair) if better is None else carried(given, better, pair[1])


def _refused(grown: list[Branch], given: Fork) -> str:
    """Say why a pair is not grown; nothing where it is."""
    if not grown:
        return "the parts named for it cannot be asked"
    tried = {wording(child) for child in given.children if child.status == "pruned"}
    # One that waits is compared by what it waits for: the pruned one has been filled.
    return "no other way was found to split it" if {wording(child) for child in grown if child.status == "open"} <= tried else ""


def usable(questions: list[str], given: Fork, settings: TreeSettings) -> list[str]:
    """Keep the sub-questions that can be asked: not empty, none from above again, a hole only where one can be filled."""
    above = (*given.above, given.branch.question)
    kept = [normal(flatten(text), above) for text in questions[:2] if text.strip()]
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


def better_half(fork: Fork) -> Branch | None:
    """Find the half of a pruned pair that was not the weaker.

    None where the judge has named none, and where one half hangs from the other in vain: the second hop of a bridge falls with the first.
    """
    weaker = next((child for child in fork.pair if child.path == fork.branch.weaker and child.status == "pruned"), None)
    better = next((child for child in fork.pair if child is not weaker), None)
    if weaker is None or better is None or better.awaits == weaker.path:
        return None
    return None if weaker.awaits == better.path and not better.known else better


def carried(fork: Fork, better: Branch, instead: str) -> list[Branch]:
    """Make the next pair: the better half with what came of it, in its place, and the question that is asked instead of the weaker.

    A question that builds on the better half's answer is filled in at once, and comes second; none where it has no answer.
    """
    start = max(position(child.path)[-1] for child in fork.children) + 1
    paths = [f"{fork.branch.path}.{start + n}" for n in range(2)]
    asked = filled(instead, [better.answer if better.known else None])
    if asked is None:
        return []
    builds = bool(holes(instead))
    first, second = paths if builds or better.path != fork.pair[-1].path else reversed(paths)
    known = better.model_dump(include=set(KEPT))
    kept = Branch(path=first, status="failed" if better.answer is None else "answered", note=f"carried over from {better.path}", **known)
    anew = Branch(path=second, question=asked)
    if builds:
        anew = anew.to(anew.status, awaits=first, note=put_in(better.answer, first))
    return sorted((kept, anew), key=lambda branch: position(branch.path))
