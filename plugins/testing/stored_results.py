"""The results that are kept beside a file of expectations: what was answered, and all that the answer depends on."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from ramify.graphs.run import Result
from ramify.nodes.tree import DROPPED, Branch, FrozenModel, Passage
from ramify.nodes.tree.citation import Citation
from ramify.studio.drawing.phrases import conflict_text
from ramify.testing.expectations import names_of
from ramify.tools.errors import UsageError
from ramify.tools.new_files import write_atomically
from ramify.tools.search.recording import RecordedSearch
from ramify.tools.supporting_sentence import QuestionAnswer, quote_support
from ramify.tools.text_location import page_number, printed_page

FORMAT = "ramify-test-results/1"
_DIGEST_CHARS = 16


class Sentence(FrozenModel):
    """The sentence that an answer rests on, and where it stands."""

    text: str
    where: str
    """File and page."""
    source: str
    digest: str
    """The digest of the passage that has it."""


class Hop(FrozenModel):
    """A branch of the tree, as it is compared with a later one."""

    path: str
    question: str
    status: str
    answer: str | None
    confidence: float | None
    note: str = ""
    sentences: list[Sentence] = Field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Return whether its answer was not dropped."""
        return self.status not in DROPPED


class Searched(FrozenModel):
    """A search, and a digest of what it returned for each query."""

    queries: list[str]
    how: dict[str, Any]
    found: list[str]


class Record(FrozenModel):
    """A result: the answer, and what it depends on."""

    answer: str
    text: str = ""
    confidence: float | None = None
    names: list[str] = Field(default_factory=list)
    """The names under which a file of expectations knows the cited files."""
    sentences: list[Sentence] = Field(default_factory=list)
    """What the answer itself cites."""
    hops: list[Hop] = Field(default_factory=list)
    conflict: str = ""
    """How a conflict between answers in the tree was settled; empty if there was none."""
    gone: list[str] = Field(default_factory=list)
    """The sentences that the last right result before it rests on and the documents had no longer."""
    objections: list[str] = Field(default_factory=list)
    """What did not hold of it; of several answers to one question, of those that did not hold."""
    right: int = 1
    asked: int = 1
    """How many of how many answers held."""
    conditions: str = ""
    """The digest of strategy, settings, model, networks, encoder and version."""
    searches: list[Searched] = Field(default_factory=list)
    whole_index: str = ""
    """The digest of the whole index, where more of it was read than its searches returned; otherwise empty."""


class Stored(FrozenModel):
    """What is kept of a question: its last result that was right, its last one if that was not, and why it could not be asked since."""

    right: Record | None = None
    last: Record | None = None
    error: str = ""

    @property
    def latest(self) -> Record | None:
        """Return the last result."""
        return self.last or self.right

    @property
    def failed(self) -> bool:
        """Return whether it failed or could not be asked the last time."""
        return self.last is not None or bool(self.error)


def digest(value: Any) -> str:
    """Return a digest of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str).encode()).hexdigest()[:_DIGEST_CHARS]


def passage_digest(passage: Passage) -> str:
    """Return a digest of all of a passage that a step or a prompt can read; not of its score, and not of where its files lie."""
    return digest([passage.source, passage.collection, passage.text, _without_paths(passage.metadata)])


def _without_paths(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_paths(item) for key, item in value.items() if key != "path"}
    return [_without_paths(item) for item in value] if isinstance(value, (list, tuple)) else value


def found_digests(searches: list[RecordedSearch]) -> list[list[str]]:
    """Return a digest of what each query of each search returned: the passages in their order, with their scores.

    In it a passage has the number of its first appearance instead of its id: an id can depend on what stands before it in a file.
    """
    numbers: dict[str, int] = {}
    return [
        [
            digest([
                (numbers.setdefault(passage.id, len(numbers)), passage_digest(passage), round(passage.score, 4), round(passage.value, 4))
                for passage in passages
            ])
            for passages in search.found
        ]
        for search in searches
    ]  # fmt: skip


def make_record(result: Result, searches: list[RecordedSearch], conditions: str, index_digest: str) -> Record:
    """Return a result as it is kept; the index's digest is kept where the result has passages that none of its searches returned.

    Where that is so and the index has no digest, as a store of somebody else, it is kept without conditions, and always asked again.
    """
    returned = {passage.id for search in searches for passages in search.found for passage in passages}
    read = {*result.passages, *(key for branch in result.tree.values() for key in branch.evidence)}
    digests, reads_more = found_digests(searches), not read <= returned
    return Record(
        answer=result.answer,
        text=result.text,
        confidence=result.confidence,
        names=sorted({name for citation in result.citations if citation.cited for name in names_of(citation)}),
        sentences=[_cited_sentence(citation, result.passages) for citation in result.citations if citation.cited],
        hops=[_hop(branch, result.passages) for branch in result.tree.values()],
        conflict=conflict_text(result),
        conditions="" if reads_more and not index_digest else conditions,
        searches=[
            Searched(queries=list(search.queries), how=search.how, found=found) for search, found in zip(searches, digests, strict=True)
        ],
        whole_index=index_digest if reads_more else "",
    )


def _cited_sentence(citation: Citation, passages: Mapping[str, Passage]) -> Sentence:
    passage = passages.get(citation.id)
    quote = citation.quote.strip("… ")
    return Sentence(
        text=quote, where=citation.where, source=citation.source, digest=passage_digest(passage) if passage else digest(citation.text)
    )


def _hop(branch: Branch, passages: Mapping[str, Passage]) -> Hop:
    fields: dict[str, Any] = branch.model_dump(include={"path", "question", "status", "answer", "confidence", "note"})
    asked = [QuestionAnswer(branch.question, branch.answer or "")]
    cited = [passages[key] for key in branch.cited if key in passages]
    sentences = [
        Sentence(
            text=quote_support(passage.text, asked, [passage.title, passage.heading]).strip("… "),
            where=", ".join(filter(None, (passage.source, printed_page(passage.source, page_number(passage.metadata))))),
            source=passage.source,
            digest=passage_digest(passage),
        )
        for passage in cited
    ]
    return Hop(**fields, sentences=sentences)


class ResultsFile:
    """The file of results beside a file of expectations: `tests.yaml` has `tests.lock`."""

    def __init__(self, expectations: Path) -> None:
        self.path = expectations.with_suffix(".lock")
        self.results = self._load()

    def _load(self) -> dict[str, Stored]:
        if not self.path.exists():
            return {}
        remedy = "restore it, or delete it: then all questions are asked again"
        try:
            read = json.loads(self.path.read_text(encoding="utf-8"))
            if not isinstance(read, dict) or read.get("format") != FORMAT:
                raise UsageError(f"{str(self.path)!r} is no file of results of this version ({FORMAT})", remedy)
            return {question: Stored.model_validate(stored) for question, stored in read["results"].items()}
        except (OSError, ValueError, KeyError, AttributeError, ValidationError) as error:
            raise UsageError(f"cannot read the results in {str(self.path)!r} ({type(error).__name__})", remedy) from error

    def put(self, question: str, record: Record) -> None:
        """Store the latest result of a question, and write the file."""
        before = self.results.get(question, Stored())
        self.results[question] = Stored(right=before.right, last=record) if record.objections else Stored(right=record)
        self.write()

    def put_error(self, question: str, error: str) -> None:
        """Store why a question could not be asked, beside its results, and write the file."""
        before = self.results.get(question, Stored())
        if before.error != error:
            self.results[question] = before.model_copy(update={"error": error})
            self.write()

    def keep_only(self, questions: set[str]) -> None:
        """Remove the results of questions that are no longer asked, and write the file if there are any."""
        gone = self.results.keys() - questions
        self.results = {question: stored for question, stored in self.results.items() if question in questions}
        if gone:
            self.write()

    def write(self) -> None:
        """Write the file."""
        results = {question: stored.model_dump(mode="json", exclude_defaults=True) for question, stored in self.results.items()}
        write_atomically(json.dumps({"format": FORMAT, "results": results}, ensure_ascii=False, indent=1) + "\n", self.path)
