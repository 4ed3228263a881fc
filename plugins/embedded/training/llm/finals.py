"""Examples of `finalize`: the answer to the whole question from what the steps found, and their passages."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from plugins.embedded.training.example import seeded_random
from plugins.embedded.training.llm.answers import told
from plugins.embedded.training.llm.hops import Hops, summary
from plugins.embedded.training.llm.rendered import Asked
from plugins.embedded.training.llm.shown import numbers_of, passages_among, to_passage
from plugins.embedded.training.llm.splits import to_chain
from plugins.embedded.training.llm.texts import not_told, text_of_steps
from plugins.embedded.training.source import WordIndex
from ramify.nodes.step.findings import to_finding
from ramify.nodes.tree import UNKNOWN
from ramify.prompts.finalize import FINALIZE
from ramify.prompts.finalize import Final as Conclusion

_LACKING: Final = 0.25
"""Share of the questions of which the last step found no answer."""


def conclusions(made: Iterable[Hops], index: WordIndex) -> Iterator[Asked]:
    """Yield whole questions after all of their steps, some without the answer of the last."""
    for hops in made:
        choose = seeded_random("finalize", hops.question)
        lacking = choose.random() < _LACKING
        known = hops.steps[:-1] if lacking else hops.steps
        right = list({hop.document.id: hop.document for hop in reversed(known)}.values())  # the deepest first, as a chain ranks them
        if len(hops.steps) < 2 or (lacking and any(told(hops.steps[-1], document) for document in right)):
            continue
        absent = [hops.answer, hops.steps[-1].answer] if lacking else []
        shown = passages_among(right, hops.question, index, absent, hops.documents, choose)
        if shown is None:
            continue
        ranked = [document.id for document in right]
        shown = tuple(sorted(shown, key=lambda passage: ranked.index(passage.id) if passage.id in ranked else len(ranked)))
        chain = to_chain(hops, hops.steps, lacking)
        passages = {hop.document.id: to_passage(hop.document) for hop in hops.steps}
        findings = [to_finding(branch, passages, chain[: branch.depth]) for branch in chain[1:]]
        answer, cited = (UNKNOWN, []) if lacking else (hops.answer, numbers_of(right, shown))
        reply = Conclusion(answer=answer, confidence=1, citations=cited)
        slots = {"question": hops.question, "findings": findings}
        thought = summary(known, [hops.steps[-1].question] if lacking else ())
        asked = Asked(FINALIZE, hops.source, "unknown" if lacking else "known", hops.groups, slots, reply, thought, shown)
        yield asked
        text = text_of_steps(known, shown, "" if lacking or hops.answer == known[-1].answer else f"So the answer is {hops.answer}")
        if lacking:
            text = f"{text} {ending}" if text and (ending := not_told(hops.steps[-1].question)) else ""
        if text:
            yield replace(asked, kind=f"{asked.kind}_text", text=text)
