"""decompose: split a question into one or two, as was proposed for it, or as the model says (ToR-RAG §4; PruneRAG); extract_entities."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ramify.nodes.asking.ask import Reply, ask, ask_writer, chosen_splitter
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.settings import SPLITS, UNSURE, Settings, TreeSettings
from ramify.nodes.step import UNSPLIT, Context, branch_step, with_warning
from ramify.nodes.step.review import ReviewAction, ReviewDecision, quote_text, review, to_argument
from ramify.nodes.tree import ROOT, UNKNOWN, Branch, Kind, ancestors, children, latest_parts, normalized_key, position
from ramify.nodes.tree.answers import PLACEHOLDER, fill_references, normalize_references, reference_numbers
from ramify.nodes.tree.notes import REPLACED, SIMPLE, filled_note
from ramify.prompts import ENTITIES
from ramify.prompts.decompose import DECOMPOSE, DECOMPOSE_SEARCHED, Missing, Pair, keeping
from ramify.tools.errors import ReplyError, UsageError
from ramify.tools.quoting import MAX_ANSWER_CHARS, collapse_whitespace, truncate_line

CARRIED_FIELDS = {"question", "answer", "confidence", "confidence_source", "evidence", "cited", "aggregated"}
"""The fields of a half that are copied when it is carried over."""
UNASKABLE = "the proposed sub-questions cannot be asked"
BRIDGE = "not split: one of its sub-questions needs the answer to the other, which dependent=false excludes"
PARTS = ("first", "second")
"""The arguments of a split that a person reviews."""


async def confirm_splits(branches: Sequence[Branch], results: list[list[Branch]], context: Context[TreeSettings]) -> list[list[Branch]]:
    """Have a person review all splits before they are used: approved, edited or rejected."""
    splits = {number: split for number, split in enumerate(results) if len(split) > 1}
    if context.settings.reviewed != SPLITS or not splits:
        return results
    decisions = await review([_review_action(branches[number], _parts_of(split), context) for number, split in splits.items()])
    reviewed = {
        number: _apply_review(branches[number], splits[number], decision, context)
        for number, decision in zip(splits, decisions, strict=True)
    }
    return [reviewed.get(number, split) for number, split in enumerate(results)]


def _parts_of(split: Sequence[Branch]) -> list[Branch]:
    """Return the new sub-questions of a split, which comes first."""
    return [part for part in split if part.path in split[0].parts]


def _review_action(branch: Branch, parts: Sequence[Branch], context: Context[TreeSettings]) -> ReviewAction:
    """Return the action for reviewing a split."""
    hole = f" In the second, {PLACEHOLDER} stands for the answer of the first." if context.settings.dependent else ""
    args = {**dict.fromkeys(PARTS, ""), **{name: to_argument(part.question) for name, part in zip(PARTS, parts, strict=False)}}
    described = f"Split {quote_text(branch.question)} (branch {branch.path}) into these questions?{hole}"

    def check(edited: Mapping[str, str]) -> None:
        texts = [edited[name] for name in PARTS if edited[name].strip()]
        if len(texts) < len(parts) or not askable(texts, branch, context):
            may = f"only the second may have {PLACEHOLDER}" if context.settings.dependent else f"none may have {PLACEHOLDER}"
            raise UsageError(
                f"{truncate_line(repr(texts), MAX_ANSWER_CHARS)} cannot be asked", f"ask {len(parts)}, none of them from above; {may}"
            )

    return ReviewAction("split_question", args, described, check)


def _apply_review(branch: Branch, proposed: list[Branch], decision: ReviewDecision, context: Context[TreeSettings]) -> list[Branch]:
    """Return a split as reviewed; unchanged parts stay as proposed."""
    split, parts = proposed[0], _parts_of(proposed)
    if decision.type == "approve":
        return proposed
    if decision.type == "reject":
        note = branch.with_note(f"not split: {decision.reason}")
        return [branch.with_status(branch.status, attempts=branch.attempts + 1, proposal=None, note=note)]
    texts = askable([text for name in PARTS if (text := decision.args[name]).strip()], branch, context)
    made = make_children(branch, (), texts, start=position(parts[0].path)[-1])
    kept = {to_argument(part.question): part for part in parts}
    pair = [old if (old := kept.get(new.question)) and old.path == new.path else new for new in made]
    dropped = [child for child in proposed[1:] if child not in parts]
    if pair == parts:
        return [split, *pair, *dropped]
    return [*divide(split, pair, together="", note=split.with_note("sub-questions edited by a person")), *dropped]


@branch_step(confirm=confirm_splits)
async def decompose(branch: Branch, context: Context[TreeSettings]) -> list[Branch]:
    """Split a question in two, or ask the one thing that its passages leave open; a simple one, or parts that cannot be asked: no split.

    A fork that stands is dropped only if another pair is found in its place.
    """
    is_fork, proposal = branch.status == "split", branch.proposal
    branch = branch.with_status(branch.status, attempts=branch.attempts + 1, proposal=None)
    dropped = [half.with_status("pruned", note=half.with_note(REPLACED)) for half in context.pair(branch)] if is_fork else []
    before = list({child.path: child for child in (*children(context.tree, branch.path), *dropped)}.values())
    if proposal is not None:
        questions = askable(proposal.questions, branch, context)
        if not questions:
            return [branch.with_status(branch.status, note=branch.with_note("chose decompose but gave no sub-question that can be asked"))]
        return divide(branch, make_children(branch, before, questions), together=proposal.together)
    better = better_half(branch, latest_parts({child.path: child for child in before}, branch))
    try:
        reply = await _ask_for_parts(branch, context, before, better)
    except ReplyError as error:
        return [with_warning(error, branch if is_fork or branch.answer is None else branch.with_status("leaf"), UNSPLIT)]
    if reply.value.simple:
        excluded = bool(reply.value.together) and not context.settings.dependent
        if excluded:
            CALL_CONTEXT.get().notices.append(f"{quote_text(branch.question)} was {BRIDGE} — leave out preset=paper, or set dependent=true")
        return [branch.with_status(branch.status, note=branch.with_note(BRIDGE if excluded else SIMPLE))]
    grown, why = _new_parts(branch, context, before, better, reply.value)
    if why:
        return [branch.with_status(branch.status, note=branch.with_note(why))]
    # A pair that keeps its better half, in its place, is brought together as before, unless one builds on the other only now.
    as_before = better is not None and any(child.awaits for child in grown) == any(child.awaits for child in context.pair(branch))
    together = branch.together if as_before else reply.value.together
    return [*divide(branch, grown, together=together, cited=branch.cited or reply.cited_ids()), *dropped]


def divide(branch: Branch, parts: list[Branch], **changes: Any) -> list[Branch]:
    """Return a branch that is split into these parts, and the parts."""
    return [branch.with_status("split", parts=tuple(part.path for part in parts), score=None, sufficiency=None, **changes), *parts]


async def _ask_for_parts(branch: Branch, context: Context[TreeSettings], before: Sequence[Branch], better: Branch | None) -> Reply[Pair]:
    """Ask for sub-questions: two, or where the question was searched, one or two for what its passages leave open."""
    rejected = [f"{child.question} ({child.note})" for child in _tried(before)]
    kept = "" if better is None else keeping(better.question, better.answer or UNKNOWN)
    slots: dict[str, Any] = {
        "question": branch.question,
        "dependent": context.settings.dependent,
        "rejected": rejected,
        "kept": kept,
    }
    splitter = await asyncio.to_thread(chosen_splitter, context.settings)
    written = None if splitter == "model" else await ask_writer(DECOMPOSE, **slots)
    if written is not None and (not written.value.simple or splitter == "embedded"):
        return written
    passages = context.passages(branch) if branch.evidence and context.settings.informed else None
    return await ask(DECOMPOSE if passages is None else DECOMPOSE_SEARCHED, passages, **slots)


def _new_parts(
    branch: Branch, context: Context[TreeSettings], before: Sequence[Branch], better: Branch | None, said: Pair
) -> tuple[list[Branch], str]:
    """Return the new branches for the sub-questions of a reply; none and the reason if they cannot be asked, or were asked before."""
    questions = [said.first, said.second]
    if better is not None:  # in place of the weaker is asked whichever of the two is not the better half once more
        key = normalized_key(better)
        anew = [text for text in questions if text.strip() and normalized_key(Branch(path=better.path, question=text)) != key]
        questions = [better.question, *anew[-1:]]
    parts = askable(questions, branch, context)
    if len(parts) < (1 if better is None and isinstance(said, Missing) else 2):
        return [], UNASKABLE
    grown = make_children(branch, before, parts) if better is None else carry_over(branch, before, better, parts[1])
    if why := _rejection(grown, before):
        return [], why
    if context.settings.reviewed != UNSURE:
        return grown, ""
    # What is filled in already is filled in once a person has seen the answer.
    return [
        child.with_status("waiting", question=parts[1], note="") if child.awaits and child.status == "open" else child for child in grown
    ], ""


def _tried(before: Sequence[Branch]) -> list[Branch]:
    """Return the children that another split must differ from: those that were pruned, or that a search over trees has set aside."""
    return [child for child in before if child.status in {"pruned", "leaf", "inner"}]


def _rejection(children: list[Branch], before: Sequence[Branch]) -> str:
    """Return why a pair is rejected; empty if it is not."""
    if not children:
        return UNASKABLE
    tried = {normalized_key(child) for child in _tried(before)}
    # One that waits is compared by what it waits for: the pruned one has been filled.
    return "no new way to split it was found" if {normalized_key(child) for child in children if child.status == "open"} <= tried else ""


def askable(questions: Sequence[str], branch: Branch, context: Context[TreeSettings]) -> list[str]:
    """Return the sub-questions, normalized, if they can be asked: not empty, no ancestor's question, placeholders only in the second."""
    above = (*(ancestor.question for ancestor in ancestors(context.tree, branch.path)), branch.question)
    kept = [normalize_references(collapse_whitespace(text), above) for text in questions[:2] if text.strip()]
    asked = {normalized_key(Branch(path=ROOT, question=text)) for text in above}
    if any(normalized_key(Branch(path=ROOT, question=text)) in asked for text in kept):
        return []
    fillable: tuple[set[int], ...] = (set(), {1} if context.settings.dependent else set())
    return kept if all(reference_numbers(text) <= allowed for text, allowed in zip(kept, fillable, strict=False)) else []


def make_children(
    branch: Branch, before: Sequence[Branch], questions: Sequence[str], kind: Kind = "question", start: int | None = None
) -> list[Branch]:
    """Return new children from position `start` on, by default the next free one; one with a placeholder waits for the one before."""
    if start is None:
        start = max((position(child.path)[-1] + 1 for child in before), default=0)
    paths = [f"{branch.path}.{start + n}" for n in range(len(questions))]
    return [
        Branch(path=path, question=text, kind=kind, status="waiting", awaits=sibling)
        if PLACEHOLDER in text
        else Branch(path=path, question=text, kind=kind)
        for path, text, sibling in zip(paths, questions, [None, *paths], strict=False)
    ]


def better_half(branch: Branch, pair: Sequence[Branch]) -> Branch | None:
    """Return the half of a pruned pair that was not the weaker.

    None if the judge named no weaker half, or if one half depends on the other: the second hop of a bridge is dropped with the first.
    """
    weaker = next((child for child in pair if child.path == branch.weaker and child.status == "pruned"), None)
    better = next((child for child in pair if child is not weaker), None)
    if weaker is None or better is None or better.awaits == weaker.path:
        return None
    return None if weaker.awaits == better.path and not better.known else better


def carry_over(branch: Branch, before: Sequence[Branch], better: Branch, instead: str) -> list[Branch]:
    """Return the next pair: the better half with its results, in its position, and the question that replaces the weaker one.

    A question that needs the better half's answer is filled at once, and comes second; no pair if that has no answer.
    """
    start = max(position(child.path)[-1] for child in before) + 1
    paths = [f"{branch.path}.{start + n}" for n in range(2)]
    asked = fill_references(instead, [better.answer if better.known else None])
    if asked is None:
        return []
    builds = bool(reference_numbers(instead))
    first, second = paths if builds or better.path != before[-1].path else reversed(paths)
    known = better.model_dump(include=CARRIED_FIELDS)
    kept = Branch(path=first, status="failed" if better.answer is None else "answered", note=f"carried over from {better.path}", **known)
    anew = Branch(path=second, question=asked)
    if builds:
        anew = anew.with_status(anew.status, template=instead, awaits=first, note=filled_note(better.answer, first))
    return sorted((kept, anew), key=lambda half: position(half.path))


@branch_step()
async def extract_entities(branch: Branch, context: Context[Settings]) -> list[Branch]:
    """Open a branch for one or two entities, proposed before or extracted by the model; without any the question stays unchanged."""
    proposal = branch.proposal
    if proposal is None:
        reply = await ask(ENTITIES, context.passages(branch), question=branch.question)
        names: Sequence[str] = reply.value.entities
    else:
        names = proposal.entities
    branch = branch.with_status(branch.status, proposal=None, attempts=branch.attempts + 1)
    names = distinct_names(names)
    if not names:
        return [branch.with_status(branch.status, note=branch.with_note("cannot be split, and names no entity to look up"))]
    return [branch.with_status("split"), *make_children(branch, children(context.tree, branch.path), names, "entity")]


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return the first two distinct names, without references to answers."""
    return list(dict.fromkeys(name.strip() for name in names if name.strip() and "{" not in normalize_references(name)))[:2]
