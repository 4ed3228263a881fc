"""Material of many kinds of text: spans in reviews, forums, reports and stories, and passages that bear on a question or seem to."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ramify.tools.reader.reading import in_context
from training.example import CharSpan, Example, seeded
from training.lookalike import Lookalikes
from training.source import Document, Folder, gold
from training.yes_no import yes_no

_WINDOW = 900
"""Characters of a passage that are read at most: about what an index makes of a document."""
_LONGEST_ANSWER = 160


def spans(folder: Folder, other: float = 0.6) -> Iterator[Example]:
    """Give questions with the passage that holds the answer, cut to a window, and some with a passage that looks alike and does not."""
    lookalikes = Lookalikes(folder.documents.values())
    for item in folder.questions:
        if item["type"] != "span" or not (documents := gold(folder, item)):
            continue
        document, choose = documents[0], seeded(item["id"])
        question = _asked(item["question"])
        text, begin = _window(document, item["answers"][0], choose.random())
        context = in_context(document.title, text)
        shift = len(context) - len(text) - begin
        found = [(one["start"] + shift, one["start"] + shift + len(one["text"])) for one in item["answers"]]
        if held := [span for span in found if _holds(span, context)]:
            yield Example(folder.name, document.id, question, context, "span", tuple(held), True)
        answers = [one["text"] for one in item["answers"]]
        if choose.random() < other and (near := lookalikes.of(question, answers, {document.id}, choose, among=4)):
            yield Example(f"{folder.name}_other", near.id, question, _short(near), "none", (), False)


def manuals(folder: Folder) -> Iterator[Example]:
    """Give questions over manuals and office documents: spans, yes and no, and what a passage does not say although it is about it."""
    yield from spans(folder)
    yield from yes_no(replace(folder, questions=[item for item in folder.questions if item["type"] == "yes_no"]), 0.0)
    for item in folder.questions:
        if item["type"] == "none" and (documents := gold(folder, item)):
            yield Example(folder.name, documents[0].id, _asked(item["question"]), _short(documents[0]), "none")


def ranked(folder: Folder) -> Iterator[Example]:
    """Give questions with a passage that answers them, and with one near it that does not; no spans are known."""
    lookalikes = Lookalikes(folder.documents.values())
    for item in folder.questions:
        documents = gold(folder, item)
        if not documents or item["metadata"].get("context_dependent"):
            continue
        choose, question = seeded(item["id"]), _asked(item["question"])
        yield Example(folder.name, documents[0].id, question, _short(documents[0]), "", (), True)
        if near := _negative(folder, item, lookalikes, choose.random()):
            yield Example(f"{folder.name}_other", near.id, question, _short(near), "", (), False)


def _negative(folder: Folder, item: dict[str, Any], lookalikes: Lookalikes, draw: float) -> Document | None:
    """Choose what was named as looking alike, or what the words find; a neighbour of the right one may bear on it, too, and is left out."""
    known = {one["doc_id"] for one in item["supporting"]}
    named = [folder.documents[key] for key in item["metadata"].get("negatives", ()) if key in folder.documents and key not in known]
    if named and draw < 0.6:
        return named[int(draw / 0.6 * len(named))]
    return lookalikes.of(
        item["question"], [one["fact"] for one in item["supporting"] if one["fact"]], known, seeded(item["id"], "near"), among=4
    )


def _window(document: Document, answer: dict[str, Any], draw: float) -> tuple[str, int]:
    """Cut a passage around an answer, at a word; give it with where it begins."""
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
    return in_context(document.title, document.text[:_WINDOW])


def _asked(text: str) -> str:
    """Write a question as people do in full: many of these sets are in lower case and without a sign."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:].rstrip("? ") + "?"
