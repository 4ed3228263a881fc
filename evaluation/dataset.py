"""A data set: questions with their golds, and the documents to find the answers in."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ramify.nodes.tree import FrozenModel, is_unknown
from ramify.tools.index.manifest import file_sha256

HitsBy = Literal["document", "fact"]


class Support(FrozenModel):
    """A document that the gold answer rests on, with the sentences of it that matter where they are known."""

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
        """List the answers that are right."""
        return (self.answer, *self.aliases)

    @property
    def unanswerable(self) -> bool:
        """Tell whether to abstain is right."""
        return bool(self.answer) and is_unknown(self.answer)

    @property
    def gold_documents(self) -> tuple[str, ...]:
        """List the ids of the documents to be found, each once."""
        return tuple(dict.fromkeys(support.doc_id for support in self.supporting))

    @property
    def gold_facts(self) -> tuple[str, ...]:
        """List the sentences to be found, each once."""
        return tuple(dict.fromkeys(fact for support in self.supporting for fact in support.facts))


class Dataset(FrozenModel):
    """Questions about documents."""

    name: str
    questions: tuple[Question, ...]
    documents: tuple[Path, ...]
    """What to index."""
    hits_by: HitsBy = "document"
    """How a passage counts as gold: by its document, or by a gold sentence in its text, as MultiHop-RAG does."""
    caveats: tuple[str, ...] = ()
    """What a reader of its figures has to know."""
    sha256: str
    """Over the questions as read and the documents as they lie there."""


def digest(questions: Sequence[Question], documents: Sequence[Path]) -> str:
    """Hash what a run depends on."""
    content = hashlib.sha256()
    for question in questions:
        content.update(question.model_dump_json().encode())
    for path in documents:
        content.update(file_sha256(path).encode())
    return content.hexdigest()
