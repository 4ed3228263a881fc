"""Examples from hand-written questions on manuals and office documents: spans, yes/no, none, single hops, how-to and lists."""

import re
from collections.abc import Iterator
from typing import Any, Final

from plugins.embedded.training.example import CharSpan, Example, Kind, seeded_random
from plugins.embedded.training.source import Document, Folder, WordIndex, supporting_documents
from ramify.embedded.reader.reading import add_title

FOLDERS: Final = ("techdocs_spans", "office_spans", "written")
_WINDOW: Final = 1100
_OTHERS: Final = 2
"""Similar passages without the answer, for each question that has one."""


def technical_examples(folder: Folder) -> Iterator[Example]:
    """Yield each question with its passage, cut to a window, and with similar passages; the source contains the kind of question."""
    lookalikes = WordIndex(folder.documents.values())
    for item in folder.questions:
        documents = supporting_documents(folder, item)
        if not documents:
            continue
        kind, choose = item["metadata"]["kind"], seeded_random(item["id"])
        if kind == "two_hop":
            yield from _steps(folder, item, lookalikes)
            continue
        source = f"{folder.name}_{_source_kind(kind)}"
        fact = item["supporting"][0]["fact"]
        answers = [(answer["start"], answer["start"] + len(answer["text"])) for answer in item.get("answers") or ()]
        listed = [(sentence["start"], sentence["start"] + len(sentence["text"])) for sentence in item["metadata"].get("sentences") or ()]
        wanted = answers or _fact_span(fact, documents[0]) or listed
        context, spans = _cut_window(documents[0], wanted, choose.random())
        answer_kind: Kind = kind if kind in ("yes", "no", "none") else "" if kind in ("how_to", "list") else "span"
        if answer_kind == "span" and not spans:
            continue
        bears = None if answer_kind == "none" else True
        yield Example(
            source, document_group(documents[0]), item["question"], context, answer_kind, spans if answer_kind == "span" else (), bears
        )
        if answer_kind != "none":
            golds = [item["answer"]] if answer_kind == "span" else [fact] if fact else []
            yield from _others(source, item["question"], golds, {documents[0].id}, lookalikes, f"{item['id']}/other", answer_kind == "")


def _source_kind(kind: str) -> str:
    return {"number": "span", "name": "span", "command": "span", "list": "how_to"}.get(kind, kind)


def _steps(folder: Folder, item: dict[str, Any], lookalikes: WordIndex) -> Iterator[Example]:
    """Yield both steps of a question, and the whole question with its first passage, which lacks the answer."""
    source, steps = f"{folder.name}_step", item["decomposition"]["steps"]
    for number, step in enumerate(steps):
        document = folder.documents.get(step["doc_id"])
        if document is None or step["start"] is None:
            continue
        question = step["question"].replace("{1}", steps[0]["answer"])
        choose = seeded_random(item["id"], number)
        context, spans = _cut_window(document, [(step["start"], step["start"] + len(step["answer"]))], choose.random())
        if spans:
            yield Example(source, document_group(document), question, context, "span", spans, True)
            yield from _others(source, question, [step["answer"]], {document.id}, lookalikes, f"{item['id']}/{number}", False)
    first = folder.documents.get(steps[0]["doc_id"])
    if first is not None and item["answer"] and item["answer"].casefold() not in first.text.casefold():
        context, _ = _cut_window(first, [(steps[0]["start"] or 0,) * 2], 0.5)
        yield Example(f"{source}_whole", document_group(first), item["question"], context, "none")


def _others(
    source: str, question: str, answers: list[str], known: set[str], lookalikes: WordIndex, key: str, untold: bool
) -> Iterator[Example]:
    """Yield passages near a question that do not answer it; of those for how-to and lists only the relevance is known."""
    seen = set(known)
    for number in range(_OTHERS):
        if near := lookalikes.of(question, answers, seen, seeded_random(key, number), among=5):
            seen.add(near.id)
            yield Example(f"{source}_other", document_group(near), question, first_window(near), "" if untold else "none", (), False)


def document_group(document: Document) -> str:
    """Return the group of a passage: its page, or its longest line, which copies in other manuals share."""
    page = re.fullmatch(r"((?:base|samba|squid|licence)-.+)-\d{3}", document.id)
    return page[1] if page else max(document.text.split("\n"), key=len).strip()


def first_window(document: Document) -> str:
    """Return the beginning of a document as a context."""
    return _cut_window(document, [(0, 0)], 0.0)[0]


def is_from(context: str, document: Document) -> bool:
    """Return whether a context was cut from a document."""
    begin = add_title(document.title, "")
    return len(context) > len(begin) and context.startswith(begin) and context[len(begin) :] in document.text


def _fact_span(fact: str | None, document: Document) -> list[CharSpan]:
    match = re.search(r"\s+".join(map(re.escape, fact.split())), document.text) if fact else None
    return [match.span()] if match else []


def _cut_window(document: Document, wanted: list[CharSpan], draw: float) -> tuple[str, tuple[CharSpan, ...]]:
    """Return a window of a passage, at line ends if possible, that contains the wanted spans, and these spans in it."""
    text, begin = document.text, 0
    if len(text) > _WINDOW and wanted:
        first, last = min(start for start, _ in wanted), max(end for _, end in wanted)
        room = max(0, _WINDOW - (last - first))
        begin = max(0, min(first - int(draw * room), len(text) - _WINDOW))
        if begin:
            at = text.rfind("\n", max(0, begin - 120), begin + 1)
            begin = at + 1 if at > 0 else text.rfind(" ", 0, begin) + 1
        text = text[begin : max(begin + _WINDOW, last)]
    elif len(text) > _WINDOW:
        begin = int(draw * (len(text) - _WINDOW)) if draw else 0
        text = text[begin : begin + _WINDOW]
    context = add_title(document.title, text)
    shift = len(context) - len(text) - begin
    spans = tuple((start + shift, end + shift) for start, end in wanted if start + shift >= 0 and end + shift <= len(context))
    return context, spans
