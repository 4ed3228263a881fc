"""Put a data set together from its questions and documents, and check that they fit."""

import hashlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ramify.evaluation.dataset import Dataset, HitsBy, Question, digest
from ramify.evaluation.load.records import Record
from ramify.tools.documents.load import Loading
from ramify.tools.errors import InputError
from ramify.tools.index.passage_store import document_of
from ramify.tools.new_files import file_mode, make_folder, write_whole


class ReadQuestion(NamedTuple):
    """A question and where it was read."""

    place: str
    question: Question


class Corpus(NamedTuple):
    """The ids that documents get in an index, and how many hold only a part of their text."""

    ids: set[str]
    partial: int


def text_of(record: Record, field: str) -> str:
    """Return a required text field, stripped; a number is converted."""
    value = record.value.get(field)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise InputError(f"{record.place} has {field} {value!r}", f"give every question {field!r} as text")


def list_of(record: Record, field: str) -> list[Any]:
    """Return a list field; empty if absent."""
    value = record.value.get(field) or []
    if isinstance(value, list):
        return value
    raise InputError(f"{record.place} has {field} {value!r:.80}", f"give {field!r} as a list")


def answer_of(record: Record) -> str:
    """Return the gold answer."""
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
    read: Sequence[ReadQuestion],
    corpus: Path,
    *,
    hits_by: HitsBy = "document",
    caveats: Sequence[str] = (),
    absent: Collection[str] = (),
) -> Dataset:
    """Return the data set; `absent` are gold documents that the release itself lacks.

    InputError for duplicate ids or gold documents that are not in the corpus.
    """
    check_ids(read)
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
    told += about_golds(questions)
    sha256 = digest(questions, documents)
    return Dataset(name=name, questions=questions, documents=documents, hits_by=hits_by, caveats=tuple(told), sha256=sha256)


def check_ids(read: Sequence[ReadQuestion]) -> None:
    """Check that no two questions have one id; InputError if two have."""
    places: dict[str, str] = {}
    for place, question in read:
        if (before := places.setdefault(question.id, place)) != place:
            raise InputError(f"two questions have the id {question.id!r} ({before}, {place})", "give each an id of its own")


def about_golds(questions: Sequence[Question]) -> list[str]:
    """Return a caveat on questions whose gold documents are not known, if there are any."""
    answerable = [question for question in questions if question.answer and not question.unanswerable]
    if not (unknown := sum(not question.supporting for question in answerable)):
        return []
    golds = f"The gold documents of {unknown} of {len(answerable)} answerable questions are not known"
    return [f"{golds}: retrieval is scored on the others."]


def read_corpus(corpus: Path) -> Corpus:
    """Read a corpus as an index does; InputError for a document with an unusable id."""
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


class ParagraphPool:
    """Distinct paragraphs; ids are hashes of title and text, and so are the same in every release."""

    def __init__(self, prefix: str) -> None:
        self.absent: set[str] = set()
        """Ids of gold paragraphs that came with no question."""
        self._prefix = prefix
        self._paragraphs: dict[str, dict[str, Any]] = {}
        self._titled: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._paragraphs)

    def add(self, title: str, text: str, **more: Any) -> str:
        """Add a paragraph and return its id."""
        identity = self._id(title, text)
        if text.strip():
            self._paragraphs.setdefault(identity, {"id": identity, "title": title, "text": text, **more})
            self._titled.setdefault(title, identity)
        return identity

    def titled(self, title: str) -> str:
        """Return the id of a paragraph by its title; a missing one gets an id, too, and counts as missed."""
        if title in self._titled:
            return self._titled[title]
        self.absent.add(absent := self._id(title, ""))
        return absent

    def write(self, work: Path, name: str) -> Path:
        """Write the corpus below a folder, atomically."""
        content = "".join(json.dumps(paragraph, ensure_ascii=False) + "\n" for paragraph in self._paragraphs.values())
        # Two releases may have files of one name: what is in them tells them apart.
        file = work / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:8]}" / "corpus.jsonl"
        make_folder(file.parent)
        write_whole(content, file, file_mode(file.parent))
        return file

    def caveats(self, golds: int) -> list[str]:
        """Return the caveats of the pool; `golds` is the number of distinct gold paragraphs."""
        told = [f"The corpus is the {len(self)} paragraphs that came with the questions, not all of Wikipedia: searching it is easier."]
        if self.absent:
            told.append(f"Gold paragraphs that came with no question: {len(self.absent)} of {golds}. They count as missed.")
        return told

    def _id(self, title: str, text: str) -> str:
        content = f"{title}\0{text}"
        return f"{self._prefix}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def release_name(release: str, file: Path) -> str:
    """Return the name of a data set: its file's, prefixed with the release unless the file names it."""
    stem = file.name.split(".json")[0]
    return stem if release[:5].lower() in stem.lower() else f"{release}-{stem}"


def malformed(record: Record, field: str, shape: str) -> InputError:
    """Return the error for a field that is not in the format of the release."""
    value = record.value.get(field)
    return InputError(f"{record.place} has {field} {value!r:.80}", f"give the file as released: {field} is {shape}")
