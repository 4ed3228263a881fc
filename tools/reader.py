"""The socket of a reader (`ramify.relevance`): a plug-in's model that says how relevant a text is, and whether passages say a sentence.

Where none is installed, nothing is reranked by it, and sentences, summaries and versions of documents are not checked.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Protocol

from ramify.tools import plugins
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.supporting_sentence import QuestionAnswer
from ramify.tools.versions import OtherVersion, VersionedText

READER = "reader"
"""The name of its entry point."""


class Material(NamedTuple):
    """A passage: its text, and what it is about (title and headings)."""

    subject: str
    text: str


class Reader(Protocol):
    """What the module of a reader has; all of it blocks."""

    def load(self) -> float:
        """Load the model; return the seconds taken, 0 if it was loaded. ModelError if it is damaged."""

    def describe(self) -> str:
        """Load and verify the model; return what there is to say about it."""

    def rank_values(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the values by which texts found for a query are ranked, the highest first; the texts are in the order of the search."""

    def read_answer(self, question: str, materials: Sequence[Material]) -> str:
        """Return the short answer to a question in passages, Unknown if they have none, or if it cannot read the question."""

    def check_support(
        self,
        sentence: str,
        materials: Sequence[Material],
        asked: Sequence[QuestionAnswer] = (),
        by: str = READER,
        language: str | None = None,
    ) -> bool | None:
        """Return whether passages support a sentence, judged by the reader or a cross-encoder; None for a conclusion."""

    def find_source(self, sentence: str, materials: Sequence[Material], asked: Sequence[QuestionAnswer] = ()) -> int | None:
        """Return the number, from 0, of the passage that says a sentence; None if none does."""

    def is_contradicted(self, sentence: str, units: Sequence[str], similarities: Matrix) -> bool:
        """Return whether statements, with their cosines to a sentence of a summary, contradict it."""

    def contradictions(self, question: str, answer: str, cited: VersionedText, passages: Sequence[VersionedText]) -> list[OtherVersion]:
        """Return the other versions of a cited passage that say something else than the answer."""


@cache
def find_reader() -> Reader | None:
    """Return the reader that is installed, None if none is."""
    reader: Reader | None = plugins.load("ramify.relevance", READER) if READER in plugins.names("ramify.relevance") else None
    return reader
