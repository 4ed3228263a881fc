"""One question with one variant: answering and scoring it, and its result as a line of JSON that survives a killed run."""

import asyncio
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from pydantic import Field

from ramify.graphs import STRATEGIES, Result, ask_async
from ramify.lab import metrics
from ramify.lab._degraded import degrade_question
from ramify.lab._variants import Variant
from ramify.lab.dataset import BY_SOURCE, BY_TEXT, HitsBy, Question
from ramify.nodes.asking.ask import CALLS
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step.findings import branches_for_final_call, rank_passages
from ramify.nodes.step.langgraph import task_result
from ramify.nodes.tree import ROOT, FrozenModel, Passage, is_unknown
from ramify.tools.errors import InputError, UsageError
from ramify.tools.index.passage_store import document_id
from ramify.tools.models.tokens import KNOWN_AT_START, Ratios
from ramify.tools.new_files import make_file, make_folder, write_error_remedy
from ramify.tools.scrub import mask_known, scrub
from ramify.tools.search.searcher import digest_of

try:
    import fcntl
except ImportError:  # not available on Windows, where concurrent runs in one folder are not detected
    fcntl = None  # type: ignore[assignment]

RESULTS = "results.jsonl"
OUTCOME_FIELDS = ("key", "strategy", "variant", "error", "em")
Row = dict[str, Any]
RowCallback = Callable[[Row], None]
"""Called with each row as it is written."""


def row_key(dataset: str, strategy: str, variant: str, question: str) -> str:
    """Return the key of a row: data set, strategy, variant and question id."""
    return f"{dataset}|{strategy}|{variant}|{question}"


def read_rows(file: Path) -> list[Row]:
    """Return the rows of a file, the last one of each key."""
    return list({row["key"]: row for row in iter_rows(file)}.values())


def read_outcomes(file: Path) -> dict[str, Row]:
    """Return the outcome fields of each row by key, without the trees, which are large."""
    return {row["key"]: {name: row[name] for name in OUTCOME_FIELDS} for row in iter_rows(file)}


def iter_rows(file: Path) -> Iterator[Row]:
    """Yield every row, including those replaced by a later one; an incomplete last line is skipped.

    InputError for an invalid line.
    """
    if not file.exists():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            yield _parse_row(line, f"line {number} of {str(file)!r}")


def _parse_row(line: bytes, place: str) -> Row:
    remedy = "remove the line, or start over with another --out"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not a valid result ({error})", remedy) from error
    if missing := [name for name in OUTCOME_FIELDS if not isinstance(row, dict) or name not in row]:
        raise InputError(f"{place} is not a valid result: it has no {missing[0]!r}", remedy)
    result: Row = row
    return result


class ResultLog:
    """A file of results to which rows are appended and flushed; InputError if it cannot be written.

    It is locked for one writer until the process ends: UsageError if another run has the lock.
    """

    def __init__(self, file: Path) -> None:
        self._path = file

    def __enter__(self) -> Self:
        make_folder(self._path.parent)
        try:
            self._file = make_file(self._path).open("a", encoding="utf-8", errors="replace")
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            _lock_file(self._file, self._path.parent)
            _truncate_incomplete_line(self._path)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._file.close()
        except OSError:
            if error is None:
                raise

    def write(self, rows: Iterable[Row]) -> None:
        """Append rows."""
        try:
            self._file.write("".join(json.dumps(mask_known(row), ensure_ascii=False) + "\n" for row in rows))
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> InputError:
        remedy = write_error_remedy(error, "make it writable, then run the command again: it resumes where it stopped", resumable=True)
        return InputError(f"cannot write to {str(self._path)!r} ({error.strerror or error})", remedy)


def _lock_file(file: IO[str], folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"another run is writing to {str(folder)!r}", "wait for its end, or choose another folder with --out") from error


def _truncate_incomplete_line(file: Path) -> None:
    """Remove an incomplete last line."""
    with file.open("rb+") as lines:
        size = lines.seek(0, os.SEEK_END)
        if not size:
            return
        lines.seek(size - 1)
        if lines.read(1) != b"\n":
            lines.seek(0)
            lines.truncate(lines.read(size).rfind(b"\n") + 1)


MAX_CITATION_CHARS = 300
"""Maximum length of a citation's text in a row."""
CITATION_FIELDS = ("id", "source", "cited")
"""The fields of a citation in a row, besides its text; paths of this machine are left out."""
RESULT_FIELDS = (
    "answer",
    "text",
    "explanation",
    "withheld",
    "confidence",
    "confidence_source",
    "stopped_by",
    "usage",
    "tree",
    "model",
    "notices",
)
FAILURE_FIELDS = ("usage", "tree", "model", "notices")
"""The fields of the result in the row of a failed question, which show where it failed."""
EMPTY_SCORES: Row = dict.fromkeys(("em", "f1", "containment", "official"))
"""The scores of a row without a gold answer."""
EMPTY_RETRIEVAL: Row = {"retrieved": [], "retrieval": None, "gold_retrieved": False, "gold_found": False}
EMPTY_FIELDS: Row = {
    **{"answer": "", "explanation": "", "withheld": "", "text": "", "confidence": None, "confidence_source": None, "stopped_by": "error"},
    **{"usage": None, "model": None, "notices": [], "abstained": False, "citations": [], "tree": []},
    **{**dict.fromkeys(EMPTY_SCORES, 0.0), "supported": None, **EMPTY_RETRIEVAL},
}
"""The result fields of a failed question."""


class Task(FrozenModel):
    """One question to ask with one variant."""

    dataset: str
    hits_by: HitsBy
    index: str
    question: Question
    variant: Variant
    seed: int
    tokens: Mapping[str, Ratios] = Field(default_factory=dict)
    """The models' token ratios, which determine how many passages a prompt contains."""
    calls: bool = False
    """Whether its row contains its model calls: messages and replies."""

    @property
    def key(self) -> str:
        """Return the key of its row."""
        return row_key(self.dataset, self.variant.strategy, self.variant.name, self.question.id)


async def run_task(task: Task) -> Row:
    """Answer the question with the variant and return the scored row; an error also gives a row."""
    tracker = ErrorTracker()
    KNOWN_AT_START.set(task.tokens)
    calls: list[Row] | None = [] if task.calls else None
    CALLS.set(calls)
    try:
        question, options = task.question.question, {**task.variant.options, "index": task.index}
        if task.variant.degraded is not None:
            question, options["index"] = await asyncio.to_thread(
                degrade_question, task.question, task.index, task.variant.degraded, task.seed
            )
        result = await ask_async(question, task.variant.strategy, tracker, **options)
    except Exception as error:  # noqa: BLE001  # the failure of one question must not end a run of hours
        return failed_row(task, f"{type(error).__name__}: {error}")
    record = result.to_json()
    failure = tracker.failure(result)
    if failure is not None:
        return {**failed_row(task, failure), **{name: record[name] for name in FAILURE_FIELDS}}
    return {
        **task_fields(task),
        "error": None,
        **{name: record[name] for name in RESULT_FIELDS},
        "citations": [
            {**{name: cited[name] for name in CITATION_FIELDS}, "text": cited["text"][:MAX_CITATION_CHARS]} for cited in record["citations"]
        ],
        **score_result(task.question, result, task.hits_by),
        "index_digest": await asyncio.to_thread(digest_of, task.index) if result.index else "",
        **({} if calls is None else {"calls": calls}),
    }


def failed_row(task: Task, why: str) -> Row:
    """Return the row of a failed question, with scores of 0 if there is a gold answer."""
    unscored = {} if task.question.answer else EMPTY_SCORES
    return {**task_fields(task), **EMPTY_FIELDS, **unscored, "error": scrub(why)}


def task_fields(task: Task) -> Row:
    """Return the fields of a row that identify the task."""
    question = task.question
    return {
        "key": task.key,
        "dataset": task.dataset,
        "strategy": task.variant.strategy,
        "variant": task.variant.name,
        "id": question.id,
        "question": question.question,
        "type": question.type,
        "gold": question.answer,
        "aliases": list(question.aliases),
        "unanswerable": question.unanswerable,
        "gold_documents": list(question.gold_documents),
        "seed": task.variant.options.get("seed", task.seed),
    }


class ErrorTracker:
    """Event listener that records branches that failed with an error, which would distort the answer of a question.

    An exhausted budget is not an error, because it is a setting; a malformed reply counts only if the question has no answer.
    """

    def __init__(self) -> None:
        self._errors: list[str] = []
        self._malformed_replies: list[str] = []

    def __call__(self, kind: str, event: Any) -> None:
        """Record a failed step."""
        if kind != "tasks":
            return
        if error := event.get("error"):
            self._errors.append(f"{type(error).__name__}: {error}")
        outcome = task_result(event)
        if isinstance(outcome, dict) and outcome.get("failure") and not outcome.get("limit"):
            (self._malformed_replies if outcome["malformed"] else self._errors).append(outcome["failure"])

    def failure(self, result: Result) -> str | None:
        """Return the reason why the question counts as failed; None if it does not."""
        if self._errors:
            return self._errors[0]
        unanswered = is_unknown(result.answer) and (result.stopped_by == "error" or result.tree[ROOT].status == "failed")
        return self._malformed_replies[0] if self._malformed_replies and unanswered else None


def score_result(question: Question, result: Result, hits_by: HitsBy) -> Row:
    """Return all scores of a result that the gold of its question allows."""
    answer, golds = result.answer, question.golds
    cited = [result.passages[citation.id] for citation in result.citations if citation.cited and citation.id in result.passages]
    answer_scores = {
        "em": metrics.exact_match(answer, golds),
        "f1": metrics.token_f1(answer, golds),
        "containment": metrics.containment(answer, golds),
        "official": metrics.official_multihop_rag(answer, question.answer),
    }
    verdicts = [sentence.supported for sentence in result.sentences if sentence.supported is not None]
    searched = bool(result.usage.retrievals)
    return {
        **(answer_scores if question.answer else EMPTY_SCORES),
        "abstained": is_unknown(answer),
        "supported": sum(verdicts) / len(verdicts) if verdicts else None,
        **(score_retrieval(question, _shown_passages(result, hits_by), hits_by, cited) if searched else EMPTY_RETRIEVAL),
        "gold_found": searched and score_retrieval(question, list(result.passages.values()), hits_by)["gold_retrieved"],
    }


def _shown_passages(result: Result, hits_by: HitsBy) -> list[Passage]:
    """Return the passages, truncated as they were shown to the model, in the order of the final call.

    Passages that were never shown do not count as forgotten. By document, a passage counts if most of it was shown (as in PruneRAG's
    reference code); by sentence, if the sentence was shown.
    """
    if result.search is not None:
        passages = [result.passages[key] for key in result.search.support]
    else:
        state = cast(State, {"tree": result.tree, "passages": result.passages})
        settings = STRATEGIES[result.strategy].build().settings if result.strategy in STRATEGIES else Settings
        passages = rank_passages(state, branches_for_final_call(state, settings), by_value=settings.final_call_branches == "leaves")
    seen = [(passage, passage.text[: result.shown.get(passage.id, 0)]) for passage in passages]
    enough = [(passage, text) for passage, text in seen if text and (hits_by in BY_TEXT or metrics.covers_passage(text, passage.text))]
    return [passage.model_copy(update={"text": text}) for passage, text in enough]


def score_retrieval(question: Question, passages: Sequence[Passage], hits_by: HitsBy, cited: Collection[Passage] | None = None) -> Row:
    """Return the retrieval scores of ranked passages; they are None if the gold is unknown, or the question is unanswerable."""
    documents = list(dict.fromkeys(_document_name(passage, hits_by) for passage in passages))
    gold = set(question.gold_facts if hits_by in BY_TEXT else question.gold_documents)
    if question.unanswerable or not gold:
        return {"retrieved": documents, "retrieval": None, "gold_retrieved": False}
    if hits_by in BY_TEXT:
        gold_by_rank = [metrics.contained_facts(passage.text, gold) for passage in passages]
    else:
        gold_by_rank = [frozenset({document} & gold) for document in documents]
    scores: Row = dict(metrics.retrieval_scores(gold_by_rank, gold))
    if cited is not None:
        scores |= metrics.citation_scores({_document_name(passage, hits_by) for passage in cited}, set(question.gold_documents))
    return {"retrieved": documents, "retrieval": scores, "gold_retrieved": gold <= set().union(*gold_by_rank)}


def _document_name(passage: Passage, hits_by: HitsBy) -> str:
    """Return the identifier of a passage's document in the gold: its source or document id."""
    return passage.source if hits_by in BY_SOURCE else document_id(passage.id)
