"""Examples of `answer`: questions with the passages that answer them, or without them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.example import occurrences, seeded_random
from plugins.embedded.training.llm.hops import Hop, Hops, folders
from plugins.embedded.training.llm.rendered import Asked
from plugins.embedded.training.llm.shown import numbers_of, passages_among, quoted_text
from plugins.embedded.training.llm.statements import wanted
from plugins.embedded.training.llm.texts import with_text
from plugins.embedded.training.source import Document, WordIndex, supporting_documents
from plugins.embedded.training.technical import FOLDERS
from plugins.embedded.training.writing.written import ask, fold
from ramify.nodes.tree import UNKNOWN
from ramify.prompts.answer import ANSWER, AnsweredFromPassages
from ramify.tools.passage import Passage
from ramify.tools.quoting import truncate_line

SINGLE: Final = ("squad_dev", "boolq_dev", "boolq_train", *FOLDERS)
_MISSED: Final = 0.25
"""Share of the questions for which the search misses the passage that answers."""
AS_A_PART: Final = 0.6
"""Share of the steps that are asked as a part of the whole question."""
_IN_SENTENCES: Final = 0.2
"""Share of the questions for one fact that are also answered in sentences, whose check takes long."""
_LONGEST_ANSWER: Final = 60
_LONGEST_MISSING: Final = 120
_KINDS: Final = frozenset(("span", "number", "name", "command", "field", "none", "yes", "no"))


def single_answers(data: Path) -> Iterator[Asked]:
    """Yield questions for one fact, and some that their passages do not answer."""
    for folder in folders(data, SINGLE):
        index = WordIndex(folder.documents.values())
        for item in folder.questions:
            documents = supporting_documents(folder, item)
            kind = item["metadata"].get("kind", item["type"])
            answer = _answer_of(item, documents[0], kind) if documents else None
            if answer is None:
                continue
            choose = seeded_random("answer", item["id"])
            missed = answer != "" and choose.random() < _MISSED and fold(answer) not in ("yes", "no")
            question = ask(item["question"])
            groups = (fold(question), fold(documents[0].title or documents[0].id))
            shown = passages_among([] if missed else documents[:1], question, index, [answer], documents, choose)
            if shown:
                known = "" if missed else answer
                asked = _answered(folder.name, groups, question, "", known, documents[:1], shown, question)
                yield from with_text(asked, documents[0], known) if choose.random() < _IN_SENTENCES else (asked,)


def _answer_of(item: dict[str, Any], document: Document, kind: str) -> str | None:
    """Return the answer, empty if the document does not tell it; None if that is not known, or not in what is shown."""
    answer = " ".join(str(item["answer"] or "").split())
    if kind in ("yes", "no") or fold(answer) in ("yes", "no"):
        return answer.capitalize() if quoted_text(document) == document.text else None
    if kind == "none" or not answer:
        return "" if kind == "none" or item["type"] == "unanswerable" else None
    told = kind in _KINDS and len(answer) <= _LONGEST_ANSWER and any(occurrences(answer, " ".join(quoted_text(document).split())))
    return answer if told else None


def _answered(
    source: str,
    groups: tuple[str, ...],
    question: str,
    above: str,
    answer: str,
    documents: Iterable[Document],
    passages: tuple[Passage, ...],
    missing: str,
) -> Asked:
    numbers = numbers_of(documents, passages) if answer else []
    said = answer or f"{UNKNOWN}: {lacking(missing)}"
    kind = "unknown" if not answer else fold(answer) if fold(answer) in ("yes", "no") else "known"
    reply = AnsweredFromPassages(answer=answer or UNKNOWN, confidence=1, citations=numbers)
    slots = {"question": question, "above": above}
    return Asked(ANSWER, source, kind, groups, slots, reply.model_copy(update={"answer": said}), passages=passages)


def lacking(question: str) -> str:
    """Return what is missing where a question has no answer, in its words."""
    return truncate_line(wanted(question) or question[:1].lower() + question[1:].rstrip("?"), _LONGEST_MISSING)


def hop_answers(made: Iterable[Hops], index: WordIndex) -> Iterator[Asked]:
    """Yield the steps of questions, as parts of them or alone, and the whole questions, with all that they need or without."""
    for hops in made:
        for number, hop in enumerate(hops.steps):
            choose = seeded_random("hop", hops.question, number)
            missed = choose.random() < _MISSED
            shown = passages_among([] if missed else [hop.document], hop.question, index, [hop.answer], hops.documents, choose)
            above = hops.question if choose.random() < AS_A_PART else ""
            groups = (fold(hop.question), *hops.groups)
            if shown:
                answer = "" if missed else hop.answer
                asked = _answered(f"{hops.source}_step", groups, hop.question, above, answer, [hop.document], shown, hop.question)
                yield from with_text(asked, hop.document, answer)
        yield from _whole_answer(hops, index)


def _whole_answer(hops: Hops, index: WordIndex) -> Iterator[Asked]:
    """Yield a whole question with all its documents, or where the steps are known sometimes without that of one."""
    choose = seeded_random("whole", hops.question)
    lacking = choose.choice(hops.steps) if hops.steps and choose.random() < 0.4 else None
    right = [document for document in hops.documents if lacking is None or document.id != lacking.document.id]
    absent = [hops.answer, *([lacking.answer] if lacking else [])]
    shown = passages_among(right, hops.question, index, absent, hops.documents, choose)
    if shown is None or (lacking and any(told(lacking, document) for document in right)) or not (lacking or tells_answer(hops)):
        return
    answer, missing = ("", lacking.question) if lacking else (hops.answer, "")
    yield _answered(hops.source, hops.groups, hops.question, "", answer, right, shown, missing)


def tells_answer(hops: Hops) -> bool:
    """Return whether the documents show the answer, or it is yes or no."""
    return fold(hops.answer) in ("yes", "no") or any(
        list(occurrences(hops.answer, f"{document.title} {quoted_text(document)}")) for document in hops.documents
    )


def told(hop: Hop, document: Document) -> bool:
    """Return whether a document has the answer of a step."""
    return document.id == hop.document.id or any(occurrences(hop.answer, f"{document.title} {document.text}"))
