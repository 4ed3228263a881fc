"""Ask one question with one variant, and make a line of what came of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from ramify.evaluation.dataset import HitsBy, Question
from ramify.evaluation.rows import Row, key_of
from ramify.evaluation.scoring import UNSCORED, scores
from ramify.evaluation.variants import Variant
from ramify.graphs import Result, ask_async
from ramify.nodes.tree import ROOT, FrozenModel, is_unknown
from ramify.tools.models.learned_tokens import KNOWN_AT_START, Ratios
from ramify.tools.scrub import scrub

PRINTED = 300
"""Characters of a citation that a line keeps."""
CITED = ("id", "source", "cited")
"""What of a citation a line keeps beside its text: where it lies on this machine is nobody's business."""
KEPT = ("answer", "explanation", "confidence", "confidence_source", "stopped_by", "usage", "tree", "model", "notices")
STILL_KEPT = ("usage", "tree", "model", "notices")
"""What a line keeps of a question that failed on its way: it says where."""
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
"""What a line says of a question that failed."""


class Task(FrozenModel):
    """One question to ask with one variant."""

    dataset: str
    hits_by: HitsBy
    index: str
    question: Question
    variant: Variant
    seed: int
    tokens: Mapping[str, Ratios] = Field(default_factory=dict)
    """What is known of the models' tokens; by more than that no prompt is to be filled."""

    @property
    def key(self) -> str:
        """Name the line that it makes."""
        return key_of(self.dataset, self.variant.strategy, self.variant.name, self.question.id)


async def answer(task: Task) -> Row:
    """Ask and score; what goes wrong is a line too, with the reason, so that no question is lost from a table."""
    losses = Losses()
    KNOWN_AT_START.set(task.tokens)
    try:
        options = {**task.variant.options, "index": task.index}
        result = await ask_async(task.question.question, task.variant.strategy, losses, **options)
    except Exception as error:  # noqa: BLE001  # one question's failure, whatever it is, must not end a run of hours
        return failed(task, f"{type(error).__name__}: {error}")
    failure = losses.failure(result)
    return answered(task, result) if failure is None else {**failed(task, failure), **_told(result, STILL_KEPT)}


def answered(task: Task, result: Result) -> Row:
    """Make the line of an answered question."""
    told = _told(result, (*KEPT, "citations"))
    told["citations"] = [{**{name: one[name] for name in CITED}, "text": one["text"][:PRINTED]} for one in told["citations"]]
    return {**head(task), "error": None, **told, **scores(task.question, result, task.hits_by)}


def failed(task: Task, why: str) -> Row:
    """Make the line of a question that failed: it scores nothing, where there is a gold answer to score it by."""
    unscored = {} if task.question.answer else UNSCORED
    return {**head(task), **NOTHING, **unscored, "error": scrub(why)}


def _told(result: Result, names: Iterable[str]) -> Row:
    told = result.to_json()
    return {name: told[name] for name in names}


def head(task: Task) -> Row:
    """Say in a line what was asked with what."""
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


class Losses:
    """Watch a question; a branch that was lost to a mishap makes its answer another than it would have been.

    A budget that is used up is no loss: it is a setting. Nor is a malformed reply: what a model says badly, it says badly every time.
    """

    def __init__(self) -> None:
        self._mishaps: list[str] = []
        self._malformed: list[str] = []

    def __call__(self, kind: str, event: Any) -> None:
        """Take note of a task that failed."""
        if kind != "tasks":
            return
        if error := event.get("error"):
            self._mishaps.append(f"{type(error).__name__}: {error}")
        ended = event.get("result")
        told = ended.get("__return__") if isinstance(ended, dict) else None
        if isinstance(told, dict) and told.get("failure") and not told.get("limit"):
            (self._malformed if told["malformed"] else self._mishaps).append(told["failure"])

    def failure(self, result: Result) -> str | None:
        """Say why the question counts as failed; nothing where it was answered as it would be again."""
        if self._mishaps:
            return self._mishaps[0]
        unanswered = is_unknown(result.answer) and (result.stopped_by == "error" or result.tree[ROOT].status == "failed")
        return self._malformed[0] if self._malformed and unanswered else None
