"""Answers in sentences, each with the number of the passage that says it: what prompts ask for beside the answer with `style=full`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plugins.embedded.training.llm.hops import Hop
from plugins.embedded.training.llm.rendered import Asked
from plugins.embedded.training.llm.shown import numbers_of, quoted_text
from plugins.embedded.training.llm.statements import sentence_for, wanted
from plugins.embedded.training.source import Document
from ramify.prompts.answer import CONCLUDING_ANSWER
from ramify.tools.passage import Passage
from ramify.tools.reader import Material, find_reader
from ramify.tools.supporting_sentence import QuestionAnswer


def text_of_steps(known: Sequence[Hop], shown: Sequence[Passage], conclusion: str = "") -> str:
    """Return what steps found, a sentence each, and a conclusion of all; empty if one has no sentence that its passage supports."""
    lines = [text_of(hop.question, hop.answer, hop.document, shown) for hop in known]
    if not all(lines):
        return ""
    marks = "".join(f"[{number}]" for number in sorted({*numbers_of([hop.document for hop in known], shown)}))
    return " ".join([*dict.fromkeys(lines), *([f"{conclusion} {marks}."] if conclusion else [])])


def text_of(question: str, answer: str, document: Document, shown: Sequence[Passage]) -> str:
    """Return a sentence that says an answer, with its passage's number; empty if there is none that the product would let stand."""
    said = sentence_for(question, answer, document, quoted_text(document))
    reader = find_reader()
    if not said or reader is None:
        return ""
    verdict = reader.check_support(said, [Material(document.title or "", quoted_text(document))], [QuestionAnswer(question, answer)])
    (number,) = numbers_of([document], shown)
    return f"{said.rstrip('.')} [{number}]." if verdict is not False else ""


def with_text(asked: Asked, document: Document, answer: str) -> Iterator[Asked]:
    """Yield a call of `answer`, and where it is asked for the whole question the same one with a text, empty without an answer."""
    yield asked
    if asked.slots["above"] or asked.kind in ("yes", "no"):
        return
    text = text_of(asked.slots["question"], answer, document, asked.passages or ()) if answer else ""
    if text or not answer:
        yield replace(asked, prompt=CONCLUDING_ANSWER, kind=f"{asked.kind}_text", text=text)


def not_told(question: str) -> str:
    """Return the sentence that what a question asks for is not told; empty if it has no plain form."""
    missing = wanted(question)
    return (
        f"It is not told {missing}."
        if missing.startswith(("who ", "when ", "where ", "in ", "on ", "which ", "what "))
        else (f"{missing[:1].upper()}{missing[1:]} is not told." if missing else "")
    )
