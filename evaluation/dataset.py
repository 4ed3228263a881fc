"""A data set: questions with gold answers, and the documents that contain the answers."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ramify.nodes.tree import FrozenModel, is_unknown
from ramify.tools.index.manifest import file_sha256

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
