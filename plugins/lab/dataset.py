"""A data set: questions with gold answers, and the documents that contain the answers; assembled and validated."""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from ramify.nodes.tree import FrozenModel, is_unknown
from ramify.tools.documents.load import DocumentStream
from ramify.tools.errors import InputError
from ramify.tools.index.manifest import file_sha256
from ramify.tools.index.passage_store import document_id

OPEN_TYPE = "open"
"""The type of questions without a single right answer."""
HitsBy = Literal["document", "fact", "source", "quote"]
"""How a passage counts as gold: by its document, or by a gold sentence in its text; in your own index, a document is a source."""
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
    """Empty for open questions, and where a data set is loaded for retrieval alone."""
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
    """Files to index; empty for questions about your own index."""
    hits_by: HitsBy = "document"
    """How passages count as gold; by sentences, as MultiHop-RAG does."""
    caveats: tuple[str, ...] = ()
    """Limitations that affect the interpretation of its scores."""
    sha256: str
    """Hash of the questions and the document files."""
    origin: dict[str, str] = Field(default_factory=dict)
    """For questions about your own index: its location, kind and embedding, and the hashes of index and questions."""

    @property
    def index(self) -> str | None:
        """Return the location of your own index; None if the run builds one."""
        return self.origin.get("index")

    def hits_by_for(self, question: Question) -> HitsBy:
        """Return how passages count for a question: in your own index by its quotes, if every gold document has one."""
        quoted = bool(question.supporting) and all(support.facts for support in question.supporting)
        return "quote" if self.hits_by == "source" and quoted else self.hits_by


def inputs_digest(questions: Sequence[Question], documents: Sequence[Path]) -> str:
    """Return the SHA-256 of the questions and documents."""
    content = hashlib.sha256()
    for question in questions:
        content.update(question.model_dump_json().encode())
    for path in documents:
        content.update(file_sha256(path).encode())
    return content.hexdigest()


class ReadQuestion(NamedTuple):
    """A question and its position in the file it was read from."""

    place: str
    question: Question


def make_dataset(
    name: str,
    read: Sequence[ReadQuestion],
    corpus: Path,
    *,
    hits_by: HitsBy = "document",
    caveats: Sequence[str] = (),
    absent_golds: Collection[str] = (),
) -> Dataset:
    """Return the data set; `absent_golds` are ids of gold documents that the release lacks.

    InputError for duplicate ids, or gold documents that are not in the corpus.
    """
    check_ids(read)
    ids, partial = read_corpus(corpus)
    for place, question in read:
        for identity in question.gold_documents:
            if identity not in ids and identity not in absent_golds:
                what = f"{place} names the gold document {identity!r}, which is not in {str(corpus)!r}"
                raise InputError(what, "add the document, or correct the id")
    questions, documents = tuple(question for _, question in read), (corpus,)
    partial_caveat = (
        f"{partial} of {len(ids)} documents hold only a part of their text: searching them is easier than the original, do not compare."
    )
    all_caveats = (*([partial_caveat] if partial else []), *caveats, *open_question_caveats(questions), *missing_gold_caveats(questions))
    sha256 = inputs_digest(questions, documents)
    return Dataset(name=name, questions=questions, documents=documents, hits_by=hits_by, caveats=all_caveats, sha256=sha256)


def check_ids(read: Sequence[ReadQuestion]) -> None:
    """Raise InputError if two questions have the same id."""
    places: dict[str, str] = {}
    for place, question in read:
        if (before := places.setdefault(question.id, place)) != place:
            raise InputError(f"two questions have the id {question.id!r} ({before}, {place})", "give each a unique id")


def missing_gold_caveats(questions: Sequence[Question]) -> list[str]:
    """Return a caveat if the gold documents of some questions are unknown."""
    answerable = [question for question in questions if question.answer and not question.unanswerable]
    if not (unknown := sum(not question.supporting for question in answerable)):
        return []
    message = f"The gold documents of {unknown} of {len(answerable)} answerable questions are not known"
    return [f"{message}: retrieval is scored on the others."]


def open_question_caveats(questions: Sequence[Question]) -> list[str]:
    """Return a caveat if some questions are open."""
    if not (count := sum(question.type == OPEN_TYPE for question in questions)):
        return []
    message = f"{count} of {len(questions)} questions are open: no answer to them is right or wrong."
    return [f"{message} Two runs are compared on them by `ramify compare RUN_A RUN_B --judge MODEL`."]


def read_corpus(corpus: Path) -> tuple[set[str], int]:
    """Return the ids that documents get in an index, and the number of documents with only a part of their text.

    InputError for a document that cannot be read, or with an unusable id.
    """
    loading = DocumentStream([corpus])
    ids: set[str] = set()
    partial = 0
    for document in loading:
        identity = str(document.id)
        if identity in ids:
            raise InputError(f"two documents of {str(corpus)!r} have the id {identity!r}", "give each a unique id")
        if document_id(identity) != identity:
            raise InputError(
                f"a document of {str(corpus)!r} has the id {identity!r}", "give it one that does not end in ~NUMBER, as passages do"
            )
        ids.add(identity)
        partial += "partial" in str(document.metadata.get("text_status", "")).lower()
    if loading.skipped:
        name, reason = loading.skipped[0]
        raise InputError(f"{name} of {str(corpus)!r} cannot be read ({reason})", "correct the document, or remove it")
    return ids, partial
