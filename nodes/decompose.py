"""decompose: split a question into two, as was proposed for it, or as the model says (ToR-RAG §4; PruneRAG)."""

from collections.abc import Mapping, Sequence

from ramify.nodes.asking.ask import ask
from ramify.nodes.settings import SPLITS, UNSURE, TreeSettings
from ramify.nodes.step import UNSPLIT, Context, branch_step, with_warning
from ramify.nodes.step.review import Action, Decision, as_argument, as_quoted, review
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Kind, ancestors, children, normalized_key, position
from ramify.nodes.tree.answers import HOLE, filled, holes, normal
from ramify.nodes.tree.notes import SIMPLE, filled_with
from ramify.prompts.decompose import DECOMPOSE, DECOMPOSE_SEARCHED, keeping
from ramify.tools.errors import ReplyError, UsageError
from ramify.tools.quoting import MAX_ANSWER_CHARS, collapse_whitespace, truncate_line

KEPT = {"question", "answer", "confidence", "confidence_source", "evidence", "cited", "aggregated"}
"""What a half that is carried over keeps."""
PARTS = ("first", "second")
"""The arguments of a split that a person reviews."""


async def confirm_splits(branches: Sequence[Branch], results: list[list[Branch]], context: Context[TreeSettings]) -> list[list[Branch]]:
    """Ask a person about all splits before they are carried out: as proposed, in other parts, or not at all."""
    splits = {place: found for place, found in enumerate(results) if found[0].status == "split"}
    if context.settings.reviewed != SPLITS or not splits:
        return results
    decisions = await review([_proposed(branches[place], parts, context) for place, (_, *parts) in splits.items()])
    reviewed = {place: _decided(branches[place], splits[place], one, context) for place, one in zip(splits, decisions, strict=True)}
    return [reviewed.get(place, found) for place, found in enumerate(results)]


def _proposed(branch: Branch, parts: Sequence[Branch], context: Context[TreeSettings]) -> Action:
    """Return what a person is asked about a split."""
    hole = f" In the second, {HOLE} stands for the answer of the first." if context.settings.dependent else ""
    args = {**dict.fromkeys(PARTS, ""), **{name: as_argument(part.question) for name, part in zip(PARTS, parts, strict=False)}}
    described = f"Split {as_quoted(branch.question)} (branch {branch.path}) into these questions?{hole}"

    def check(edited: Mapping[str, str]) -> None:
        texts = [edited[name] for name in PARTS if edited[name].strip()]
        if len(texts) < len(parts) or not usable(texts, branch, context):
            may = f"only the second may have {HOLE}" if context.settings.dependent else f"none may have {HOLE}"
            raise UsageError(
                f"{truncate_line(repr(texts), MAX_ANSWER_CHARS)} cannot be asked", f"ask {len(parts)}, none of them from above; {may}"
            )

    return Action("split_question", args, described, check)


def _decided(branch: Branch, found: list[Branch], decision: Decision, context: Context[TreeSettings]) -> list[Branch]:
    """Return a split as a person wants it; a part that was not changed stays as it was proposed."""
    split, *parts = found
    if decision.type == "approve":
        return found
    if decision.type == "reject":
        note = branch.noted(f"not split: {decision.reason}")
        return [branch.to(branch.status, attempts=branch.attempts + 1, proposal=None, note=note)]
    texts = usable([text for name in PARTS if (text := decision.args[name]).strip()], branch, context)
    made = children_of(branch, (), texts, start=position(parts[0].path)[-1])
    kept = {as_argument(part.question): part for part in parts}
    pair = [old if (old := kept.get(new.question)) and old.path == new.path else new for new in made]
    divided = split if pair == parts else split.to("split", together="", note=split.noted("sub-questions edited by a person"))
    return [divided, *pair]


@branch_step(confirm=confirm_splits)
async def decompose(branch: Branch, context: Context[TreeSettings]) -> list[Branch]:
    """Split a question in two; one that is simple, or whose parts cannot be asked, is left whole."""
    settings, before = context.settings, children(context.tree, branch.path)
    proposal = branch.proposal
    branch = branch.to(branch.status, attempts=branch.attempts + 1, proposal=None)
    if proposal is not None:
        pair = usable(proposal.questions, branch, context)
        if not pair:
            return [branch.to(branch.status, note=branch.noted("chose decompose but named nothing that can be asked"))]
        return [branch.to("split", together=proposal.together, score=None), *children_of(branch, before, pair)]
    better = better_half(branch, before[-2:])
    found = context.passages(branch) if branch.evidence and settings.informed else None
    rejected = [f"{child.question} ({child.note})" for child in before if child.status == "pruned"]
    kept = "" if better is None else keeping(better.question, better.answer or UNKNOWN)
    prompt = DECOMPOSE if found is None else DECOMPOSE_SEARCHED
    try:
        reply = await ask(prompt, found, question=branch.question, dependent=settings.dependent, rejected=rejected, kept=kept)
    except ReplyError as error:
        return [with_warning(error, branch if branch.answer is None else branch.to("leaf"), UNSPLIT)]
    if reply.value.simple:
        return [branch.to(branch.status, note=branch.noted(SIMPLE))]
    questions = [reply.value.first, reply.value.second]
    if better is not None:  # in place of the weaker is asked whichever of the two is not the better half once more
        anew = [text for text in questions if normalized_key(Branch(path=better.path, question=text)) != normalized_key(better)]
        questions = [better.question, *anew[-1:]]
    pair = usable(questions, branch, context)
    if len(pair) < 2:
        grown: list[Branch] = []
    else:
        grown = children_of(branch, before, pair) if better is None else carried(branch, before, better, pair[1])
    if why := _refused(grown, before):
        return [branch.to(branch.status, note=branch.noted(why))]
    if settings.reviewed == UNSURE:  # what is filled in already is filled in once a person has seen the answer
        grown = [child.to("waiting", question=pair[1], note="") if child.awaits and child.status == "open" else child for child in grown]
    # A pair that keeps its better half, in its place, is brought together as before, unless one builds on the other only now.
    as_before = better is not None and any(child.awaits for child in grown) == any(child.awaits for child in before[-2:])
    return [branch.to("split", together=branch.together if as_before else reply.value.together, score=None), *grown]


def _refused(grown: list[Branch], before: Sequence[Branch]) -> str:
    """Say why a pair is not grown; nothing where it is."""
    if not grown:
        return "the parts named for it cannot be asked"
    tried = {normalized_key(child) for child in before if child.status == "pruned"}
    # One that waits is compared by what it waits for: the pruned one has been filled.
    return "no other way was found to split it" if {normalized_key(child) for child in grown if child.status == "open"} <= tried else ""


def usable(questions: Sequence[str], branch: Branch, context: Context[TreeSettings]) -> list[str]:
    """Keep the sub-questions that can be asked: not empty, none from above again, a hole only where one can be filled."""
    above = (*(one.question for one in ancestors(context.tree, branch.path)), branch.question)
    kept = [normal(collapse_whitespace(text), above) for text in questions[:2] if text.strip()]
    asked = {normalized_key(Branch(path=ROOT, question=text)) for text in above}
    if any(normalized_key(Branch(path=ROOT, question=text)) in asked for text in kept):
        return []
    fillable: tuple[set[int], ...] = (set(), {1} if context.settings.dependent else set())
    return kept if all(holes(text) <= allowed for text, allowed in zip(kept, fillable, strict=False)) else []


def children_of(
    branch: Branch, before: Sequence[Branch], questions: Sequence[str], kind: Kind = "question", start: int | None = None
) -> list[Branch]:
    """Make the children for the positions from `start` on, by default the next free ones; one with a hole waits for the one before it."""
    if start is None:
        start = max((position(child.path)[-1] + 1 for child in before), default=0)
    paths = [f"{branch.path}.{start + n}" for n in range(len(questions))]
    return [
        Branch(path=path, question=text, kind=kind, status="waiting", awaits=sibling)
        if HOLE in text
        else Branch(path=path, question=text, kind=kind)
        for path, text, sibling in zip(paths, questions, [None, *paths], strict=False)
    ]


def better_half(branch: Branch, pair: Sequence[Branch]) -> Branch | None:
    """Find the half of a pruned pair that was not the weaker.

    None where the judge has named none, and where one half hangs from the other in vain: the second hop of a bridge falls with the first.
    """
    weaker = next((child for child in pair if child.path == branch.weaker and child.status == "pruned"), None)
    better = next((child for child in pair if child is not weaker), None)
    if weaker is None or better is None or better.awaits == weaker.path:
        return None
    return None if weaker.awaits == better.path and not better.known else better


def carried(branch: Branch, before: Sequence[Branch], better: Branch, instead: str) -> list[Branch]:
    """Make the next pair: the better half with what came of it, in its place, and the question that is asked instead of the weaker.

    A question that builds on the better half's answer is filled in at once, and comes second; none where it has no answer.
    """
    start = max(position(child.path)[-1] for child in before) + 1
    paths = [f"{branch.path}.{start + n}" for n in range(2)]
    asked = filled(instead, [better.answer if better.known else None])
    if asked is None:
        return []
    builds = bool(holes(instead))
    first, second = paths if builds or better.path != before[-1].path else reversed(paths)
    known = better.model_dump(include=KEPT)
    kept = Branch(path=first, status="failed" if better.answer is None else "answered", note=f"carried over from {better.path}", **known)
    anew = Branch(path=second, question=asked)
    if builds:
        anew = anew.to(anew.status, awaits=first, note=filled_with(better.answer, first))
    return sorted((kept, anew), key=lambda one: position(one.path))
