"""Examples from public data sets: spans, yes/no, single hops, multi-hop questions, and relevance."""

import re
from collections.abc import Iterator
from typing import Any, Final

from plugins.embedded.training.example import CharSpan, Example, Kind, likeliest_span, occurrences, seeded_random
from plugins.embedded.training.relations import WORDINGS
from plugins.embedded.training.source import Document, Folder, WordIndex, supporting_documents
from ramify.embedded.reader.reading import add_title
from ramify.tools.english import fold, strip_disambiguation

_OF_A_PAPER = 700


def squad_span_examples(folder: Folder) -> Iterator[Example]:
    """Yield each question with its paragraph, and with another of the same article that does not contain the answer."""
    lookalikes: dict[str | None, WordIndex] = {}
    for title in {document.title for document in folder.documents.values()}:
        lookalikes[title] = WordIndex(document for document in folder.documents.values() if document.title == title)
    for item in folder.questions:
        document, question = supporting_documents(folder, item)[0], item["question"]
        answers = [item["answer"], *item["answer_aliases"]] if item["type"] == "span" else []
        yield from _of_paragraph("squad", question, document, answers)
        choose = seeded_random(item["id"])
        if answers and (other := lookalikes[document.title].of(question, answers, {document.id}, choose)):
            yield Example("squad_other", other.id, question, add_title(other.title, other.text), "none")


def _of_paragraph(source: str, question: str, document: Document, answers: list[str]) -> Iterator[Example]:
    context = add_title(document.title, document.text)
    if not answers:
        yield Example(source, document.id, question, context, "none")
        return
    spans = []
    for answer in dict.fromkeys(answers):
        if places := list(occurrences(answer, context)):
            spans.append(likeliest_span(question, context, places))
    if spans:
        yield Example(source, document.id, question, context, "span", tuple(spans))


def paper_examples(folder: Folder) -> Iterator[Example]:
    """Yield each question with a window of the paper around the answer."""
    for item in folder.questions:
        document, start = supporting_documents(folder, item)[0], item["answers"][0]["start"]
        answer = item["answers"][0]["text"]
        if start < 0 or len(answer) > 200:
            continue
        first = max(0, start - seeded_random(item["id"]).randrange(100, _OF_A_PAPER - 100))
        window = document.text[first : max(first + _OF_A_PAPER * 2, start + len(answer))]
        begin = start - first
        yield Example("papers", document.id, item["question"], window, "span", ((begin, begin + len(answer)),))


_KINDS: Final[dict[str, Kind]] = {"yes": "yes", "no": "no", "don't know": "none", "maybe": "none"}
_LONGEST = 1600


def yes_no_examples(folder: Folder, unrelated: float = 0.25) -> Iterator[Example]:
    """Yield each question with its passage or its facts, and some with an unrelated passage."""
    lookalikes = WordIndex(folder.documents.values())
    for item in folder.questions:
        kind = _KINDS.get(item["answer"].casefold())
        documents = supporting_documents(folder, item)
        if kind is None or not documents:
            continue
        question = _question(item["question"])
        context = " ".join(add_title(document.title, document.text) for document in documents)
        if folder.name.startswith("strategyqa"):
            context = add_title(documents[0].title, " ".join(document.text for document in documents))
        yield Example(folder.name, documents[0].id, question, context[:_LONGEST], kind)
        choose = seeded_random(item["id"])
        if choose.random() < unrelated and (other := lookalikes.of(question, [], {document.id for document in documents}, choose)):
            yield Example(folder.name + "_other", other.id, question, add_title(other.title, other.text)[:_LONGEST], "none")


def _question(text: str) -> str:
    """Return a question capitalised and with a question mark."""
    return text[:1].upper() + text[1:].rstrip("? ") + "?"


_ADJECTIVES = {"United States": "American", "United Kingdom": "British", "India": "Indian", "France": "French", "Germany": "German"}
_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def wiki_hop_examples(folder: Folder, wordings: int = 3) -> Iterator[Example]:
    """Yield questions for each evidence triple of 2WikiMultihopQA, in several wordings, with its paragraph and a similar one."""
    lookalikes = WordIndex(folder.documents.values())
    by_title = {fold(document.title or ""): document for document in folder.documents.values()}
    for item in folder.questions:
        documents = supporting_documents(folder, item)
        for subject, relation, answer in item["evidences"]:
            document = by_title.get(fold(subject)) or next(
                (d for d in documents if fold(strip_disambiguation(d.title or "")) == fold(subject)), None
            )
            if document is None or relation not in WORDINGS:
                continue
            choose = seeded_random(item["id"], subject, relation)
            for wording in choose.sample(WORDINGS[relation], min(wordings, len(WORDINGS[relation]))):
                yield from _hop("hops", wording.format(s=strip_disambiguation(subject)), document, [answer], lookalikes)
        yield from _steps(item, documents, lookalikes)
        yield from _both("hops_both", item, documents)


def _steps(item: dict[str, Any], documents: list[Document], lookalikes: WordIndex) -> Iterator[Example]:
    """Yield the sub-questions of the data set in their own wording."""
    for step in (item["decomposition"] or {}).get("steps", ()):
        for subject, _, answer in item["evidences"]:
            if fold(strip_disambiguation(subject)) in fold(step["question"]) and fold(answer) in fold(step.get("answer") or ""):
                document = next(
                    (d for d in documents if fold(strip_disambiguation(d.title or "")) == fold(strip_disambiguation(subject))), None
                )
                if document:
                    yield from _hop("hops_step", step["question"], document, [answer], lookalikes)


def linked_hop_examples(folder: Folder) -> Iterator[Example]:
    """Yield the single hops of MuSiQue, with the answers of earlier ones filled in."""
    lookalikes = WordIndex(folder.documents.values())
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
    return re.sub(r"#(\d)", lambda match: answers[int(match[1]) - 1], question)


def whole_question_examples(folder: Folder) -> Iterator[Example]:
    """Yield the questions of HotpotQA with each paragraph that contains the answer; yes/no questions with both paragraphs."""
    lookalikes = WordIndex(folder.documents.values())
    for item in folder.questions:
        documents = supporting_documents(folder, item)
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
        context = " ".join(add_title(document.title, document.text) for document in turn)
        yield Example(source, documents[0].id, item["question"], context, "yes" if kind == "yes" else "no")


def _hop(source: str, question: str, document: Document, answers: list[str], lookalikes: WordIndex) -> Iterator[Example]:
    context = add_title(document.title, document.text)
    forms = [form for answer in answers for form in answer_forms(answer)]
    spans = next((places for form in forms if (places := list(occurrences(form, context)))), [])
    if not spans:
        return
    yield Example(source, document.id, question, context, "span", (likeliest_span(question, context, spans),))
    if other := lookalikes.of(question, forms, {document.id}, seeded_random(question, document.id), among=4):
        yield Example(source + "_other", other.id, question, add_title(other.title, other.text), "none")


def answer_forms(answer: str) -> Iterator[str]:
    """Yield the forms of an answer in a text: dates in both orders, countries as adjectives."""
    yield answer
    if answer in _ADJECTIVES:
        yield _ADJECTIVES[answer]
    if (match := re.fullmatch(r"(\w+) (\d+), (\d+)", answer)) and match[1] in _MONTHS:
        yield f"{match[2]} {match[1]} {match[3]}"
    if (match := re.fullmatch(r"(\d+) (\w+) (\d+)", answer)) and match[2] in _MONTHS:
        yield f"{match[2]} {match[1]}, {match[3]}"


_WINDOW = 900
"""Most characters of a passage, about the size in an index."""
_LONGEST_ANSWER = 160


def span_examples(folder: Folder, other: float = 0.6) -> Iterator[Example]:
    """Yield questions with the passage that contains the answer, cut to a window, and some with a similar passage that does not."""
    lookalikes = WordIndex(folder.documents.values())
    for item in folder.questions:
        if item["type"] != "span" or not (documents := supporting_documents(folder, item)):
            continue
        document, choose = documents[0], seeded_random(item["id"])
        question = _question(" ".join(item["question"].split()))
        text, begin = _window(document, item["answers"][0], choose.random())
        context = add_title(document.title, text)
        shift = len(context) - len(text) - begin
        places = [(answer["start"] + shift, answer["start"] + shift + len(answer["text"])) for answer in item["answers"]]
        if spans := [span for span in places if _holds(span, context)]:
            yield Example(folder.name, document.id, question, context, "span", tuple(spans), True)
        answers = [answer["text"] for answer in item["answers"]]
        if choose.random() < other and (near := lookalikes.of(question, answers, {document.id}, choose, among=4)):
            yield Example(f"{folder.name}_other", near.id, question, _short(near), "none", (), False)


def relevance_examples(folder: Folder) -> Iterator[Example]:
    """Yield questions with a relevant passage, and with a similar one that is not relevant; spans are unknown."""
    lookalikes = WordIndex(folder.documents.values())
    for item in folder.questions:
        documents = supporting_documents(folder, item)
        if not documents or item["metadata"].get("context_dependent"):
            continue
        choose, question = seeded_random(item["id"]), _question(" ".join(item["question"].split()))
        yield Example(folder.name, documents[0].id, question, _short(documents[0]), "", (), True)
        if near := _negative(folder, item, lookalikes, choose.random()):
            yield Example(f"{folder.name}_other", near.id, question, _short(near), "", (), False)


def _negative(folder: Folder, item: dict[str, Any], lookalikes: WordIndex, draw: float) -> Document | None:
    """Return an irrelevant passage: one listed in the data, or a similar one; the right ones are excluded."""
    known = {support["doc_id"] for support in item["supporting"]}
    named = [folder.documents[key] for key in item["metadata"].get("negatives", ()) if key in folder.documents and key not in known]
    if named and draw < 0.6:
        return named[int(draw / 0.6 * len(named))]
    return lookalikes.of(
        item["question"],
        [support["fact"] for support in item["supporting"] if support["fact"]],
        known,
        seeded_random(item["id"], "near"),
        among=4,
    )


def _window(document: Document, answer: dict[str, Any], draw: float) -> tuple[str, int]:
    """Return a window of a passage around an answer, and its offset."""
    if len(document.text) <= _WINDOW:
        return document.text, 0
    room = max(0, _WINDOW - len(answer["text"]))
    begin = max(0, min(answer["start"] - int(draw * room), len(document.text) - _WINDOW))
    begin = document.text.rfind(" ", 0, begin) + 1 if begin else 0
    end = document.text.find(" ", max(begin + _WINDOW, answer["start"] + len(answer["text"])))
    return document.text[begin : end if end > 0 else len(document.text)], begin


def _holds(span: CharSpan, context: str) -> bool:
    return 0 <= span[0] < span[1] <= len(context) and span[1] - span[0] <= _LONGEST_ANSWER


def _short(document: Document) -> str:
    return add_title(document.title, document.text[:_WINDOW])
