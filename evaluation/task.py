"""One question with one variant: how it is answered and scored; and its result as a line of JSON, so that a killed run loses none."""

import asyncio
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from pydantic import Field

from ramify.evaluation import metrics
from ramify.evaluation.dataset import BY_SOURCE, BY_TEXT, HitsBy, Question
from ramify.evaluation.degraded import degrade_question
from ramify.evaluation.variants import Variant
from ramify.graphs import STRATEGIES, Result, ask_async
from ramify.nodes.asking.ask import CALLS
from ramify.nodes.settings import Settings
from ramify.nodes.state import State
from ramify.nodes.step.findings import ranked, shown_at_last
from ramify.nodes.tree import ROOT, FrozenModel, Passage, is_unknown
from ramify.tools.errors import InputError, UsageError
from ramify.tools.index.passage_store import document_of
from ramify.tools.index.searcher import digest_of
from ramify.tools.models.tokens import KNOWN_AT_START, Ratios
from ramify.tools.new_files import make_file, make_folder, write_error_remedy
from ramify.tools.scrub import mask_known, scrub

try:
    import fcntl
except ImportError:  # there is none on Windows: there, two runs in one folder are not told of each other
    fcntl = None  # type: ignore[assignment]

RESULTS = "results.jsonl"
NEEDED = ("key", "strategy", "variant", "error", "em")
Row = dict[str, Any]
Watch = Callable[[Row], None]
"""Called with each line as it is written."""


def key_of(dataset: str, strategy: str, variant: str, question: str) -> str:
    """Return the key of a line: data set, strategy, variant and question."""
    return f"{dataset}|{strategy}|{variant}|{question}"


def read_rows(file: Path) -> list[Row]:
    """Return the lines, the last of each key."""
    return list({row["key"]: row for row in iter_rows(file)}.values())


def read_outcomes(file: Path) -> dict[str, Row]:
    """Return only the outcome of each line, by key: the trees of a long run are large."""
    return {row["key"]: {name: row[name] for name in NEEDED} for row in iter_rows(file)}


def iter_rows(file: Path) -> Iterator[Row]:
    """Yield every line, also ones that a later one replaces; an incomplete last line is skipped.

    InputError for an invalid line.
    """
    if not file.exists():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            yield _row(line, f"line {number} of {str(file)!r}")


def _row(line: bytes, place: str) -> Row:
    remedy = "take the line out, or start over with another --out"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is no result ({error})", remedy) from error
    if missing := [name for name in NEEDED if not isinstance(row, dict) or name not in row]:
        raise InputError(f"{place} is no result: it has no {missing[0]!r}", remedy)
    found: Row = row
    return found


class Log:
    """Append lines to a file, flushing each; InputError if the disk is full.

    One writer at a time: UsageError if another run holds the lock, which ends with the process.
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
            _hold(self._file, self._path.parent)
            _cut_half_a_line(self._path)
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
        remedy = write_error_remedy(
            error, "see that it can be written, then run the command again: it goes on where it stopped", resumable=True
        )
        return InputError(f"cannot write to {str(self._path)!r} ({error.strerror or error})", remedy)


def _hold(file: IO[str], folder: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"another run is writing to {str(folder)!r}", "wait until it has ended, or give --out another folder") from error


def _cut_half_a_line(file: Path) -> None:
    """Remove an incomplete last line."""
    with file.open("rb+") as lines:
        size = lines.seek(0, os.SEEK_END)
        if not size:
            return
        lines.seek(size - 1)
        if lines.read(1) != b"\n":
            lines.seek(0)
            lines.truncate(lines.read(size).rfind(b"\n") + 1)


PRINTED = 300
"""Maximum characters of a citation in a line."""
CITED = ("id", "source", "cited")
"""The fields of a citation that a line keeps beside its text: no paths of this machine."""
KEPT = ("answer", "text", "explanation", "withheld", "confidence", "confidence_source", "stopped_by", "usage", "tree", "model", "notices")
STILL_KEPT = ("usage", "tree", "model", "notices")
"""What a line keeps of a failed question, to show where it failed."""
UNSCORED: Row = dict.fromkeys(("em", "f1", "containment", "official"))
"""The scores of a line without a gold answer."""
NOT_SEARCHED: Row = {"retrieved": [], "retrieval": None, "gold_retrieved": False, "gold_found": False}
NOTHING: Row = {
    **{"answer": "", "explanation": "", "withheld": "", "text": "", "confidence": None, "confidence_source": None, "stopped_by": "error"},
    **{"usage": None, "model": None, "notices": [], "abstained": False, "citations": [], "tree": []},
    **{**dict.fromkeys(UNSCORED, 0.0), "supported": None, **NOT_SEARCHED},
}
"""The fields of a failed question."""


class Task(FrozenModel):
    """One question to ask with one variant."""

    dataset: str
    hits_by: HitsBy
    index: str
    question: Question
    variant: Variant
    seed: int
    tokens: Mapping[str, Ratios] = Field(default_factory=dict)
    """The models' token ratios, by which prompts are filled."""
    calls: bool = False
    """Whether its line keeps each call: the messages and the reply."""

    @property
    def key(self) -> str:
        """Return the key of its line."""
        return key_of(self.dataset, self.variant.strategy, self.variant.name, self.question.id)


async def answer(task: Task) -> Row:
    """Ask and score; an error is a line, too, so that no question is missing from a table."""
    losses = LossTracker()
    KNOWN_AT_START.set(task.tokens)
    calls: list[Row] | None = [] if task.calls else None
    CALLS.set(calls)
    try:
        asked, options = task.question.question, {**task.variant.options, "index": task.index}
        if task.variant.degraded is not None:
            asked, options["index"] = await asyncio.to_thread(degrade_question, task.question, task.index, task.variant.degraded, task.seed)
        result = await ask_async(asked, task.variant.strategy, losses, **options)
    except Exception as error:  # noqa: BLE001  # one question's failure, whatever it is, must not end a run of hours
        return failed(task, f"{type(error).__name__}: {error}")
    told = result.to_json()
    failure = losses.failure(result)
    if failure is not None:
        return {**failed(task, failure), **{name: told[name] for name in STILL_KEPT}}
    return {
        **task_fields(task),
        "error": None,
        **{name: told[name] for name in KEPT},
        "citations": [{**{name: one[name] for name in CITED}, "text": one["text"][:PRINTED]} for one in told["citations"]],
        **scores(task.question, result, task.hits_by),
        "index_digest": await asyncio.to_thread(digest_of, task.index) if result.index else "",
        **({} if calls is None else {"calls": calls}),
    }


def failed(task: Task, why: str) -> Row:
    """Return the line of a failed question: it scores 0 if there is a gold answer."""
    unscored = {} if task.question.answer else UNSCORED
    return {**task_fields(task), **NOTHING, **unscored, "error": scrub(why)}


def task_fields(task: Task) -> Row:
    """Return the fields of a line that identify the task."""
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


class LossTracker:
    """Watch a question for branches lost to errors, which make its answer differ from what it would be.

    An exhausted budget is no loss: it is a setting. Nor is a malformed reply, which a model would repeat.
    """

    def __init__(self) -> None:
        self._mishaps: list[str] = []
        self._malformed: list[str] = []

    def __call__(self, kind: str, event: Any) -> None:
        """Record a failed step."""
        if kind != "tasks":
            return
        if error := event.get("error"):
            self._mishaps.append(f"{type(error).__name__}: {error}")
        ended = event.get("result")
        told = ended.get("__return__") if isinstance(ended, dict) else None
        if isinstance(told, dict) and told.get("failure") and not told.get("limit"):
            (self._malformed if told["malformed"] else self._mishaps).append(told["failure"])

    def failure(self, result: Result) -> str | None:
        """Return why the question counts as failed; None if it does not."""
        if self._mishaps:
            return self._mishaps[0]
        unanswered = is_unknown(result.answer) and (result.stopped_by == "error" or result.tree[ROOT].status == "failed")
        return self._malformed[0] if self._malformed and unanswered else None


def scores(question: Question, result: Result, hits_by: HitsBy) -> Row:
    """Return all scores of a result that its question allows."""
    answer, golds = result.answer, question.golds
    cited = [result.passages[citation.id] for citation in result.citations if citation.cited and citation.id in result.passages]
    known = {
        "em": metrics.exact_match(answer, golds),
        "f1": metrics.token_f1(answer, golds),
        "containment": metrics.containment(answer, golds),
        "official": metrics.official_multihop_rag(answer, question.answer),
    }
    verdicts = [sentence.supported for sentence in result.sentences if sentence.supported is not None]
    searched = bool(result.usage.retrievals)
    return {
        **(known if question.answer else UNSCORED),
        "abstained": is_unknown(answer),
        "supported": sum(verdicts) / len(verdicts) if verdicts else None,
        **(retrieval(question, _shown_passages(result, hits_by), hits_by, cited) if searched else NOT_SEARCHED),
        "gold_found": searched and retrieval(question, list(result.passages.values()), hits_by)["gold_retrieved"],
    }


def _shown_passages(result: Result, hits_by: HitsBy) -> list[Passage]:
    """Return the passages as the model was shown them, in the order of the final call.

    What was never shown cannot be forgotten. A passage counts for its document if most of it was shown (PruneRAG's reference code), for a
    sentence if that was shown.
    """
    if result.search is not None:
        passages = [result.passages[key] for key in result.search.support]
    else:
        state = cast(State, {"tree": result.tree, "passages": result.passages})
        settings = STRATEGIES[result.strategy].build().settings if result.strategy in STRATEGIES else Settings
        passages = ranked(state, shown_at_last(state, settings), by_value=settings.shown_at_last == "leaves")
    seen = [(whole, whole.text[: result.shown.get(whole.id, 0)]) for whole in passages]
    enough = [(whole, text) for whole, text in seen if text and (hits_by in BY_TEXT or metrics.stands_for(text, whole.text))]
    return [whole.model_copy(update={"text": text}) for whole, text in enough]


def retrieval(question: Question, passages: Sequence[Passage], hits_by: HitsBy, cited: Collection[Passage] | None = None) -> Row:
    """Return the retrieval scores of ranked passages; None if the gold is unknown, or the question is unanswerable."""
    documents = list(dict.fromkeys(_document(passage, hits_by) for passage in passages))
    gold = set(question.gold_facts if hits_by in BY_TEXT else question.gold_documents)
    if question.unanswerable or not gold:
        return {"retrieved": documents, "retrieval": None, "gold_retrieved": False}
    if hits_by in BY_TEXT:
        held = [metrics.held_facts(passage.text, gold) for passage in passages]
    else:
        held = [frozenset({document} & gold) for document in documents]
    told: Row = dict(metrics.retrieval_scores(held, gold))
    if cited is not None:
        told |= metrics.citation_scores({_document(one, hits_by) for one in cited}, set(question.gold_documents))
    return {"retrieved": documents, "retrieval": told, "gold_retrieved": gold <= set().union(*held)}


def _document(passage: Passage, hits_by: HitsBy) -> str:
    """Return what a passage's document is known by in the gold."""
    return passage.source if hits_by in BY_SOURCE else document_of(passage.id)
