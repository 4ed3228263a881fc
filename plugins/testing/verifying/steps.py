"""Check the branches of an answer's tree, and how the answer follows from it."""

import re
from collections.abc import Iterator, Mapping

from ramify.nodes.step.conflicts import answers_in_tree
from ramify.nodes.tree import DROPPED, ROOT, Branch, Tree, ancestors, children, is_unknown
from ramify.nodes.tree.answers import PLACEHOLDER, fill_references, repeats_answer
from ramify.nodes.tree.citation import Citation
from ramify.nodes.tree.notes import quote_answer
from ramify.testing.verifying.answer_file import Answer
from ramify.testing.verifying.checks import ANSWER, MODEL_ALONE, Check
from ramify.testing.verifying.following import Following, follow
from ramify.testing.verifying.sources import cited_text, missing_fact
from ramify.tools.english import fold
from ramify.tools.quoting import MAX_ANSWER_CHARS, truncate_line
from ramify.tools.supporting_sentence import contains_answer

_FILLED = re.compile(r"filled with (['\"])(?P<answer>.*)\1 from (?P<path>0(?:\.\d+)*)(?=$|[,;])")
_UNSURE = "not above tau"
_PERSON = "given or approved by a person"
_WRITTEN = f"written by the model: {MODEL_ALONE}"


def counts(tree: Tree, branch: Branch) -> bool:
    """Return whether a branch counts: neither it nor one above it was pruned or failed."""
    return all(line.status not in DROPPED for line in (branch, *ancestors(tree, branch.path)))


def steps_of(tree: Tree) -> list[str]:
    """List the paths of the branches that are steps: those that count and have an answer."""
    return [branch.path for branch in tree.values() if branch.known and counts(tree, branch)]


def check_branch(answer: Answer, branch: Branch, passages: Mapping[str, Citation]) -> Iterator[Check]:
    """Yield the checks of a branch: why it was dropped, else the question it was filled to, its answer and its confidence."""
    if branch.status in DROPPED:
        reason = "its note says why" if branch.note.strip() else "no note says why"
        yield Check(branch.status, branch.path, "holds" if branch.note.strip() else "fails", f"{branch.status}: {reason}")
    if not counts(answer.tree, branch):
        return
    if branch.template or (branch.awaits and PLACEHOLDER not in branch.question):
        yield _check_filled(answer.tree, branch)
    if branch.known:
        yield _check_answer(answer.tree, branch, passages)
    is_accepted = branch.status == "leaf" and branch.kind == "question"
    if branch.known and is_accepted and answer.tau is not None and branch.confidence is not None:
        yield _check_confidence(branch, branch.confidence, answer.tau)


def _check_filled(tree: Tree, branch: Branch) -> Check:
    """Check a filled question: its template with the answer of the branch that it waited for, or with those of the chain before it."""
    if not branch.template:
        return Check("filled", branch.path, "unchecked", "the question as it was asked was not recorded")
    if branch.awaits is None:
        before = [link.answer for link in ancestors(tree, branch.path)[1:]]
        return _compare_question(branch, fill_references(branch.template, before), "the answers before it")
    match = _FILLED.search(branch.note)
    told = match["path"] if match else branch.awaits
    source = tree.get(told)
    if source is None or not f"{told}.".startswith(f"{branch.awaits}."):
        return Check("filled", branch.path, "fails", f"{told} is not the branch that it waited for, {branch.awaits}")
    filled = _compare_question(branch, _fill(branch.template, source.answer) if source.known else None, f"the answer of {told}")
    if filled.verdict == "holds" or match is None or not children(tree, told) or source.answer is None:
        return filled
    stated = _fill(branch.template, match["answer"])
    again = f"filled with an answer of {told} that it has no longer: it was combined again from its parts"
    return Check("filled", branch.path, "unchecked", again) if stated == branch.question else filled


def _fill(template: str, answer: str | None) -> str:
    return template.replace(PLACEHOLDER, truncate_line(answer or "", MAX_ANSWER_CHARS))


def _compare_question(branch: Branch, expected: str | None, told: str) -> Check:
    if expected != branch.question:
        return Check("filled", branch.path, "fails", f"the question is not {branch.template!r} with {told}")
    return Check("filled", branch.path, "holds", f"filled with {told}")


def _check_answer(tree: Tree, branch: Branch, passages: Mapping[str, Citation]) -> Check:
    """Check a branch's answer: it follows from those below it, or stands in a passage that it cites."""
    if branch.confidence_source == "person":
        return Check("answer", branch.path, "unchecked", _PERSON)
    below = follow(tree, branch)
    if below is not None and below.answer and (branch.aggregated or _same(branch.answer, below)):
        return _compare(branch.path, branch.answer or "", below)
    if branch.aggregated and any(child.known and child.status not in DROPPED for child in children(tree, branch.path)):
        return Check("answer", branch.path, "unchecked", _WRITTEN)
    return _check_reading(branch, passages)


def _same(answer: str | None, below: Following) -> bool:
    return fold(answer or "") == fold(below.answer)


def _compare(where: str, answer: str, below: Following) -> Check:
    if _same(answer, below):
        return Check("answer", where, "holds", below.rule)
    if not below.is_computed and contains_answer(below.answer, answer):
        return Check("answer", where, "unchecked", f"a part of {below.rule}: which part counts {MODEL_ALONE}")
    return Check("answer", where, "fails", f"{below.rule}, gives {quote_answer(below.answer)}, not {quote_answer(answer)}")


def _check_reading(branch: Branch, passages: Mapping[str, Citation]) -> Check:
    """Check that an answer stands in one of the passages that it cites."""
    answer = branch.answer or ""
    if not branch.cited:
        return Check("answer", branch.path, "unchecked", f"cites no passage: {MODEL_ALONE}")
    known = [passages[key] for key in branch.cited if key in passages]
    holding = next((citation for citation in known if contains_answer(cited_text(citation), answer)), None)
    if fold(answer) not in ("yes", "no") and holding is not None:
        return Check("answer", branch.path, "holds", f"stands in {holding.source}")
    if len(known) < len(branch.cited):
        return Check("answer", branch.path, "unchecked", "its passage is not among the citations: give the index with --index")
    return _check_words(branch.path, answer, known)


def _check_words(where: str, answer: str, citations: list[Citation]) -> Check:
    """Check an answer in other words than the passages' by its names and numbers."""
    if fold(answer) in ("yes", "no"):
        return Check("answer", where, "unchecked", f"yes or no: {MODEL_ALONE}")
    fault = missing_fact(f"It is {answer}", citations)  # the first word of a sentence is no name to it
    if fault is not None and fault[0] == "missing":
        return Check("answer", where, "fails", f"{fault[1]!r} does not stand in what it cites")
    return Check("answer", where, "unchecked", f"in other words than its passages: {MODEL_ALONE}")


def _check_confidence(branch: Branch, confidence: float, tau: float) -> Check:
    told = f"confidence {confidence:.3g} is {'' if confidence > tau else 'not '}above tau, {tau:g}"
    if confidence > tau:
        return Check("confidence", branch.path, "holds", told)
    if branch.confidence_source == "person" or _UNSURE in branch.note:
        return Check("confidence", branch.path, "holds", f"{told}, as its note says: nothing is surer")
    return Check("confidence", branch.path, "fails", f"{told}, and no note says so")


def check_question(answer: Answer) -> Check:
    """Check that the tree's root asks the question that was answered."""
    if answer.tree[ROOT].question == answer.question:
        return Check("question", ANSWER, "holds", f"the question of {ROOT}")
    return Check(
        "question", ANSWER, "fails", f"the tree answers another question, {truncate_line(answer.tree[ROOT].question, MAX_ANSWER_CHARS)!r}"
    )


def check_conclusion(answer: Answer) -> Check | None:
    """Return the check of how the answer follows from the tree; None for Unknown, which claims nothing."""
    tree, root = answer.tree, answer.tree[ROOT]
    if is_unknown(answer.answer):
        return None
    if answer.confidence_source == "person":
        return Check("answer", ANSWER, "unchecked", _PERSON)
    below = follow(tree, root)
    if root.known and fold(root.answer or "") == fold(answer.answer):
        return Check("answer", ANSWER, "holds", f"the answer of {ROOT}")
    if root.known and (root.aggregated or len(tree) == 1):
        return _compare(ANSWER, answer.answer, Following(root.answer or "", f"the answer of {ROOT}"))
    if below is not None and below.answer and repeats_answer(answer.answer, below.answer):
        return Check("answer", ANSWER, "holds", below.rule)
    rival = next((rival for rival in answers_in_tree(tree) if repeats_answer(answer.answer, rival.answer)), None)
    if rival is not None:
        settled = f", settled by {answer.settled_by}" if answer.settled_by else ""
        return Check("answer", ANSWER, "holds", f"the answer of {rival.by}{settled}")
    if below is not None and below.answer and below.is_computed:
        return _compare(ANSWER, answer.answer, below)
    words = _check_words(ANSWER, answer.answer, answer.citations)
    return words if words.verdict == "fails" else Check("answer", ANSWER, "unchecked", _WRITTEN)
