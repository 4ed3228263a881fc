"""Material from multi-hop training sets: their single hops, each with its own paragraph, and their comparisons."""

import re
from collections.abc import Iterator
from typing import Any

from ramify.tools.english import bare_title, fold
from ramify.tools.reader.reading import in_context
from training.example import Example, likeliest, occurrences, seeded
from training.lookalike import Lookalikes
from training.source import Document, Folder, gold
from training.wordings import WORDINGS

_ADJECTIVES = {"United States": "American", "United Kingdom": "British", "India": "Indian", "France": "French", "Germany": "German"}
_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def wiki_hops(folder: Folder, wordings: int = 3) -> Iterator[Example]:
    """Ask for each evidence triple of 2WikiMultihopQA in its paragraph, in several wordings, and in a paragraph that looks alike."""
    lookalikes = Lookalikes(folder.documents.values())
    by_title = {fold(document.title or ""): document for document in folder.documents.values()}
    for item in folder.questions:
        documents = gold(folder, item)
        for subject, relation, answer in item["evidences"]:
            document = by_title.get(fold(subject)) or next((d for d in documents if fold(bare_title(d.title or "")) == fold(subject)), None)
            if document is None or relation not in WORDINGS:
                continue
            choose = seeded(item["id"], subject, relation)
            for wording in choose.sample(WORDINGS[relation], min(wordings, len(WORDINGS[relation]))):
                yield from _hop("hops", wording.format(s=bare_title(subject)), document, [answer], lookalikes)
        yield from _steps(item, documents, lookalikes)
        yield from _both("hops_both", item, documents)


def _steps(item: dict[str, Any], documents: list[Document], lookalikes: Lookalikes) -> Iterator[Example]:
    """Ask the sub-questions of the data as they are worded there."""
    for step in (item["decomposition"] or {}).get("steps", ()):
        for subject, _, answer in item["evidences"]:
            if fold(bare_title(subject)) in fold(step["question"]) and fold(answer) in fold(step.get("answer") or ""):
                document = next((d for d in documents if fold(bare_title(d.title or "")) == fold(bare_title(subject))), None)
                if document:
                    yield from _hop("hops_step", step["question"], document, [answer], lookalikes)


def linked_hops(folder: Folder) -> Iterator[Example]:
    """Ask the single hops of MuSiQue, with the answers of earlier ones filled in."""
    lookalikes = Lookalikes(folder.documents.values())
    for item in folder.questions:
        steps = item["decomposition"]["steps"]
        for step in steps:
            question = _filled(step["question"], [earlier["answer"] for earlier in steps])
            document = folder.documents.get(step["doc_id"])
            if document is None:
                continue
            yield from _hop("linked", question, document, [step["answer"]], lookalikes)
            subject, arrow, relation = question.partition(" >> ")
            for wording in WORDINGS.get(relation.strip(), ())[:4] if arrow else ():
                yield from _hop("linked", wording.format(s=subject.strip()), document, [step["answer"]], lookalikes)


def _filled(question: str, answers: list[str]) -> str:
    return re.sub(r"#(\d)", lambda found: answers[int(found[1]) - 1], question)


def whole(folder: Folder) -> Iterator[Example]:
    """Ask whole questions of HotpotQA in each of their paragraphs that holds the answer, and yes or no in both together."""
    lookalikes = Lookalikes(folder.documents.values())
    for item in folder.questions:
        documents = gold(folder, item)
        if fold(item["answer"]) in ("yes", "no"):
            yield from _both("whole", item, documents)
            continue
        for document in documents if item["type"] == "bridge" else ():
            if list(occurrences(item["answer"], document.text)):
                yield from _hop("whole", item["question"], document, [item["answer"]], lookalikes)


def _both(source: str, item: dict[str, Any], documents: list[Document]) -> Iterator[Example]:
    kind = fold(item["answer"])
    if len(documents) != 2 or kind not in ("yes", "no"):
        return
    for turn in (documents, documents[::-1]):
        context = " ".join(in_context(document.title, document.text) for document in turn)
        yield Example(source, documents[0].id, item["question"], context, "yes" if kind == "yes" else "no")


def _hop(source: str, question: str, document: Document, answers: list[str], lookalikes: Lookalikes) -> Iterator[Example]:
    context = in_context(document.title, document.text)
    forms = [form for answer in answers for form in _forms(answer)]
    spans = next((found for form in forms if (found := list(occurrences(form, context)))), [])
    if not spans:
        return
    yield Example(source, document.id, question, context, "span", (likeliest(question, context, spans),))
    if other := lookalikes.of(question, forms, {document.id}, seeded(question, document.id), among=4):
        yield Example(source + "_other", other.id, question, in_context(other.title, other.text), "none")


def _forms(answer: str) -> Iterator[str]:
    """Give the ways an answer may stand in a text: dates in both orders, countries as adjectives."""
    yield answer
    if answer in _ADJECTIVES:
        yield _ADJECTIVES[answer]
    if (found := re.fullmatch(r"(\w+) (\d+), (\d+)", answer)) and found[1] in _MONTHS:
        yield f"{found[2]} {found[1]} {found[3]}"
    if (found := re.fullmatch(r"(\d+) (\w+) (\d+)", answer)) and found[2] in _MONTHS:
        yield f"{found[2]} {found[1]}, {found[3]}"
