"""Examples of `decompose` and `next_question`: how a question is split, and what a chain asks after what."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.llm.hops import COMPARED, Hop, Hops, first_needed, single_fact, summary
from plugins.embedded.training.llm.rendered import Asked
from plugins.embedded.training.llm.shown import to_passage
from plugins.embedded.training.writing.decomposed import decomposed
from plugins.embedded.training.writing.linked import encyclopedic, linked
from plugins.embedded.training.writing.single import asked_of_one
from plugins.embedded.training.writing.written import fold
from ramify.nodes.chain import chain_history
from ramify.nodes.tree import ROOT, UNKNOWN, Branch
from ramify.prompts.chain import NEXT_QUESTION, Next
from ramify.prompts.decompose import DECOMPOSE, Pair
from ramify.prompts.prompt import Finding

_COMPARED: Final = frozenset(("earlier", "later", "before", "more", "same"))
_ASKS = re.compile(r"(?:(?:in|on|at|for|of|to|from|by|with|under) )?(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
_INNER = re.compile(r"(?:break|musique)(?:_inner)+")
"""Questions that were taken out of longer ones."""
_VERB_LAST = re.compile(r"^(Which country) (.+) (is|was) from\?$")
"""A form of 2WikiMultihopQA, which is no question."""
_UNANSWERED: Final = 0.2


def splits(data: Path, made: Iterable[Hops]) -> Iterator[Asked]:
    """Yield questions with their two sub-questions, and questions for a single fact."""
    for source in (decomposed, encyclopedic, linked, asked_of_one):
        for written in source(data):
            groups = (fold(written.question), written.group)
            if asked := _split(written.source, groups, written.question, written.how, written.steps):
                yield asked
    for hops in made:
        if hops.in_turn or hops.apart:
            how, steps = "bridge" if hops.in_turn else "more", tuple(step.template for step in hops.steps)
            if asked := _split(hops.source, hops.groups, hops.question, how, steps):
                yield asked
        for step in hops.steps:
            if asked := _split(f"{hops.source}_step", (fold(step.question), *hops.groups), step.question, "single", ()):
                yield asked


def _split(source: str, groups: tuple[str, ...], question: str, how: str, steps: Sequence[str]) -> Asked | None:
    """Return a question with its split; None if its parts are no questions of their own, or are no pair of this prompt."""
    slots = {"question": question, "dependent": True, "rejected": [], "kept": ""}
    if how == "single" and _INNER.match(source) and question.startswith(("What is", "What are")):  # often of an apposition
        return None
    if how == "single":
        return Asked(DECOMPOSE, source, "simple", groups, slots, Pair(simple=True), single_fact(question))
    if (how != "bridge" and how not in _COMPARED) or not all(_ASKS.match(step) and len(step.split()) > 2 for step in steps):
        return None
    first, second = (_VERB_LAST.sub(r"\1 \3 \2 from?", step) for step in steps)
    if source.startswith("break") and how == "bridge" and first.startswith("What is"):  # often an apposition: "the city of Calgary"
        return None
    thought = first_needed(first) if how == "bridge" else COMPARED
    kind = "bridge" if how == "bridge" else "compared"
    return Asked(DECOMPOSE, source, kind, groups, slots, Pair(simple=False, first=first, second=second), thought)


def chains(made: Iterable[Hops]) -> Iterator[Asked]:
    """Yield what a chain asks after each step of a question, also after one that was not answered, and where it ends."""
    for hops in made:
        for count in range(len(hops.steps) + 1) if len(hops.steps) > 1 else ():
            known, left = hops.steps[:count], hops.steps[count:]
            choose = seeded_random("chain", hops.question, count)
            if known and known[-1].reworded and choose.random() < _UNANSWERED:
                slots = {"history": _history(hops, known, lacking=True), "question": hops.question}
                thought = summary(known[:-1], [known[-1].question])
                following = Next(done=False, question=known[-1].reworded)
                yield Asked(NEXT_QUESTION, hops.source, "again", hops.groups, slots, following, thought)
            slots = {"history": _history(hops, known), "question": hops.question}
            following = Next(done=False, question=left[0].question) if left else Next(done=True)
            kind = "done" if not left else "next" if known else "begin"
            yield Asked(NEXT_QUESTION, hops.source, kind, hops.groups, slots, following, summary(known, [hop.question for hop in left[:1]]))


def _history(hops: Hops, known: Sequence[Hop], lacking: bool = False) -> list[Finding]:
    """Return the steps asked so far as a chain shows them; the last is unanswered where its answer is lacking."""
    return chain_history(to_chain(hops, known, lacking), {hop.document.id: to_passage(hop.document) for hop in known})


def to_chain(hops: Hops, known: Sequence[Hop], lacking: bool = False) -> list[Branch]:
    """Return the branches of a chain, its root first; the last is unanswered where its answer is lacking."""
    chain = [Branch(path=ROOT, question=hops.question)]
    for number, hop in enumerate(known):
        confidence = round(seeded_random(hop.question, hop.answer).uniform(0.55, 0.99), 2)
        branch = Branch(path=f"{chain[-1].path}.0", question=hop.question, confidence=confidence)
        answered = not (lacking and number == len(known) - 1)
        changes = {"answer": hop.answer, "cited": (hop.document.id,)} if answered else {"answer": UNKNOWN}
        chain.append(branch.with_status("answered", **changes))
    return chain
