"""A data set: questions with gold answers, and the documents that contain the answers; put together, and checked that they fit."""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from ramify.nodes.tree import FrozenModel, is_unknown
from ramify.tools.documents.load import DocumentStream
from ramify.tools.errors import InputError
from ramify.tools.index.manifest import file_sha256
from ramify.tools.index.passage_store import document_of

OPEN = "open"
"""The type of questions without one right answer."""
HitsBy = Literal["document", "fact", "source", "quote"]
"""How a passage counts as gold: by its document, or by a gold sentence in its text; in an index of your own, a document is a source."""
BY_TEXT: frozenset[HitsBy] = frozenset({"fact", "quote"})
BY_SOURCE: frozenset[HitsBy] = frozenset({"source", "quote"})


class Support(FrozenModel):
    """A gold document, with its gold sentences if they are known."""

    doc_id: str
    title: str = ""
    facts: tuple[str, ...] = ()


class Question(FrozenModel):
    """A question with its gold answer."""

    id: str
    question: str
    answer: str
    """Empty only where a data set is loaded for retrieval alone."""
    aliases: tuple[str, ...] = ()
    type: str = ""
    supporting: tuple[Support, ...] = ()
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def golds(self) -> tuple[str, ...]:
        """Return the accepted answers."""
        return (self.answer, *self.aliases)

    @property
    def unanswerable(self) -> bool:
        """Return whether abstaining is the right answer."""
        return bool(self.answer) and is_unknown(self.answer)

    @property
    def gold_documents(self) -> tuple[str, ...]:
        """Return the ids of the gold documents, without duplicates."""
        return tuple(dict.fromkeys(support.doc_id for support in self.supporting))

    @property
    def gold_facts(self) -> tuple[str, ...]:
        """Return the gold sentences, without duplicates."""
        return tuple(dict.fromkeys(fact for support in self.supporting for fact in support.facts))


class Dataset(FrozenModel):
    """Questions about documents."""

    name: str
    questions: tuple[Question, ...]
    documents: tuple[Path, ...]
    """What to index; nothing for an index of your own."""
    hits_by: HitsBy = "document"
    """How passages count as gold; by sentences, as MultiHop-RAG does."""
    caveats: tuple[str, ...] = ()
    """Limitations that a reader of its scores must know."""
    sha256: str
    """Of the questions as read and the document files."""
    origin: dict[str, str] = Field(default_factory=dict)
    """Of questions about an index of your own: where that lies, its kind and embedding, and the hashes of both."""

    @property
    def index(self) -> str | None:
        """Return the place of the index of your own; None where the run builds one."""
        return self.origin.get("index")

    def counted_by(self, question: Question) -> HitsBy:
        """Return how passages count for a question: in an index of your own by its quotes, if every gold document has one."""
        quoted = bool(question.supporting) and all(support.facts for support in question.supporting)
        return "quote" if self.hits_by == "source" and quoted else self.hits_by


def digest(questions: Sequence[Question], documents: Sequence[Path]) -> str:
    """Return the SHA-256 of the questions and documents."""
    content = hashlib.sha256()
    for question in questions:
        content.update(question.model_dump_json().encode())
    for path in documents:
        content.update(file_sha256(path).encode())
    return content.hexdigest()


class ReadQuestion(NamedTuple):
    """A question and where it was read."""

    place: str
    question: Question


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
    ids, partial = read_corpus(corpus)
    for place, question in read:
        for identity in question.gold_documents:
            if identity not in ids and identity not in absent:
                what = f"{place} names the gold document {identity!r}, which is not in {str(corpus)!r}"
                raise InputError(what, "add the document, or correct the id")
    questions, documents = tuple(question for _, question in read), (corpus,)
    parts = f"{partial} of {len(ids)} documents hold only a part of their text: searching them is easier than the original, do not compare."
    told = (*([parts] if partial else []), *caveats, *about_open(questions), *about_golds(questions))
    sha256 = digest(questions, documents)
    return Dataset(name=name, questions=questions, documents=documents, hits_by=hits_by, caveats=told, sha256=sha256)


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


def about_open(questions: Sequence[Question]) -> list[str]:
    """Return a caveat on open questions, if there are any."""
    if not (count := sum(question.type == OPEN for question in questions)):
        return []
    told = f"{count} of {len(questions)} questions are open: no answer to them is right or wrong."
    return [f"{told} Two runs are compared on them by `ramify compare RUN_A RUN_B --judge MODEL`."]


def read_corpus(corpus: Path) -> tuple[set[str], int]:
    """Return the ids that documents get in an index, and how many hold only a part of their text.

    InputError for a document that cannot be read, or with an unusable id.
    """
    loading = DocumentStream([corpus])
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
    return ids, partial
