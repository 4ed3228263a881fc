"""Put a data set together, after looking whether its questions, golds and documents belong together."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.evaluation.dataset import Dataset, HitsBy, Question, digest
from ramify.evaluation.load.records import Record
from ramify.tools.documents.load import Loading
from ramify.tools.errors import InputError
from ramify.tools.index.ids import document_of


class Read(NamedTuple):
    """A question and where it was read."""

    place: str
    question: Question


class Corpus(NamedTuple):
    """The ids that documents get in an index, and how many hold only a part of their text."""

    ids: set[str]
    partial: int


def text_of(record: Record, field: str) -> str:
    """Give a field that has to say something; a number counts as written."""
    value = record.value.get(field)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise InputError(f"{record.place} has {field} {value!r}", f"give every question {field!r} as text")


def list_of(record: Record, field: str) -> list[Any]:
    """Give a field that is a list, empty where there is none."""
    value = record.value.get(field) or []
    if isinstance(value, list):
        return value
    raise InputError(f"{record.place} has {field} {value!r:.80}", f"give {field!r} as a list")


def answer_of(record: Record) -> str:
    """Give the gold answer."""
    value = record.value.get("answer")
    if value is None or value == "":
        what = f"{record.place} has no gold answer"
        raise InputError(
            what,
            'give it one (Unknown where there is none to be found; the type "open" where none is the right one), use the half of a '
            "release that has answers, or measure retrieval alone",
        )
    return text_of(record, "answer")


def assemble(
    name: str,
    read: Sequence[Read],
    corpus: Path,
    *,
    hits_by: HitsBy = "document",
    caveats: Sequence[str] = (),
    absent: Collection[str] = (),
) -> Dataset:
    """Make a data set of what was read; `absent` are gold documents that the release itself does not hold.

    InputError for what does not fit together.
    """
    places: dict[str, str] = {}
    for place, question in read:
        if (before := places.setdefault(question.id, place)) != place:
            raise InputError(f"two questions have the id {question.id!r} ({before}, {place})", "give each an id of its own")
    found = read_corpus(corpus)
    for place, question in read:
        for identity in question.gold_documents:
            if identity not in found.ids and identity not in absent:
                what = f"{place} names the gold document {identity!r}, which is not in {str(corpus)!r}"
                raise InputError(what, "add the document, or correct the id")
    questions, documents = tuple(question for _, question in read), (corpus,)
    told = list(caveats)
    if found.partial:
        partial = f"{found.partial} of {len(found.ids)} documents hold only a part of their text"
        told.insert(0, f"{partial}: searching them is easier than the original, do not compare.")
    answerable = [question for question in questions if question.answer and not question.unanswerable]
    if unknown := sum(not question.supporting for question in answerable):
        golds = f"The gold documents of {unknown} of {len(answerable)} answerable questions are not known"
        told.append(f"{golds}: retrieval is scored on the others.")
    sha256 = digest(questions, documents)
    return Dataset(name=name, questions=questions, documents=documents, hits_by=hits_by, caveats=tuple(told), sha256=sha256)


def read_corpus(corpus: Path) -> Corpus:
    """Read a corpus as an index does; InputError for a document that no gold could name."""
    loading = Loading([corpus])
    ids: set[str] = set()
    partial = 0
    for document in loading:
        identity = str(document.id)
        if identity in ids:
            raise InputError(f"two documents of {str(corpus)!r} have the id {identity!r}", "give each an id of its own")
        if document_of(identity) != identity:
            raise InputError(
                f"a document of {str(corpus)!r} has the id {identity!r}", "give it one that does not end in ~NUMBER, as passages do"
            )
        ids.add(identity)
        partial += "partial" in str(document.metadata.get("text_status", "")).lower()
    if loading.skipped:
        name, reason = loading.skipped[0]
        raise InputError(f"{name} of {str(corpus)!r} cannot be read ({reason})", "correct it, or take it out")
    return Corpus(ids, partial)
