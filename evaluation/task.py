"""Ask one question with one variant, and return the result as a line."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from ramify.evaluation.dataset import HitsBy, Question
from ramify.evaluation.rows import Row, key_of
from ramify.evaluation.scoring import UNSCORED, scores
from ramify.evaluation.variants import Variant
from ramify.graphs import Result, ask_async
from ramify.nodes.tree import ROOT, FrozenModel, is_unknown
from ramify.tools.models.tokens import KNOWN_AT_START, Ratios
from ramify.tools.scrub import scrub

PRINTED = 300
"""Maximum characters of a citation in a line."""
CITED = ("id", "source", "cited")
"""The fields of a citation that a line keeps beside its text: no paths of this machine."""
KEPT = ("answer", "explanation", "confidence", "confidence_source", "stopped_by", "usage", "tree", "model", "notices")
STILL_KEPT = ("usage", "tree", "model", "notices")
"""What a line keeps of a failed question, to show where it failed."""
NOTHING: Row = {
    **{"answer": "", "explanation": "", "confidence": 0.0, "confidence_source": None, "stopped_by": "error"},
    **{"usage": None, "model": None, "notices": [], "abstained": False, "citations": [], "tree": []},
    **{
        "em": 0.0,
        "f1": 0.0,
        "containment": 0.0,
        "official": 0.0,
        "retrieved": [],
        "retrieval": None,
        "gold_retrieved": False,
        "gold_found": False,
    },
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

    @property
    def key(self) -> str:
        """Return the key of its line."""
        return key_of(self.dataset, self.variant.strategy, self.variant.name, self.question.id)


async def answer(task: Task) -> Row:
    """Ask and score; an error is a line, too, so that no question is missing from a table."""
    losses = LossTracker()
    KNOWN_AT_START.set(task.tokens)
    try:
        options = {**task.variant.options, "index": task.index}
        result = await ask_async(task.question.question, task.variant.strategy, losses, **options)
    except Exception as error:  # noqa: BLE001  # one question's failure, whatever it is, must not end a run of hours
        return failed(task, f"{type(error).__name__}: {error}")
    failure = losses.failure(result)
    return answered(task, result) if failure is None else {**failed(task, failure), **_told(result, STILL_KEPT)}


def answered(task: Task, result: Result) -> Row:
    """Return the line of an answered question."""
    told = _told(result, (*KEPT, "citations"))
    told["citations"] = [{**{name: one[name] for name in CITED}, "text": one["text"][:PRINTED]} for one in told["citations"]]
    return {**task_fields(task), "error": None, **told, **scores(task.question, result, task.hits_by)}


def failed(task: Task, why: str) -> Row:
    """Return the line of a failed question: it scores 0 if there is a gold answer."""
    unscored = {} if task.question.answer else UNSCORED
    return {**task_fields(task), **NOTHING, **unscored, "error": scrub(why)}


def _told(result: Result, names: Iterable[str]) -> Row:
    told = result.to_json()
    return {name: told[name] for name in names}


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
