"""Pairwise comparison of answers: a language model judges each pair several times, in both orders (GraphRAG's win rates).

Models prefer the first answer (position bias, Zheng et al. 2023), so the order of A and B alternates.
"""

import hashlib
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from ramify.graphs.run import blocking
from ramify.kinds.asking.reply_cache import max_parallel_calls, run_concurrently
from ramify.lab.load.records import parse_json
from ramify.lab.prompts import PREFER
from ramify.lab.prompts.prefer import CRITERIA
from ramify.lab.task import ResultLog, Row
from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import Budget, call_context
from ramify.nodes.settings import Settings, is_embedded
from ramify.nodes.state import Usage
from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import without_marks
from ramify.tools.errors import ReplyError, UsageError
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.supporting_sentence import contains_answer

VERDICTS_FILE = "judged.jsonl"
DEFAULT_REPEATS = 5
TIE = "tie"


class JudgeSettings(Settings):
    """Settings of the judge. At temperature 0, repeated verdicts would be identical."""

    listed: ClassVar[str] = "a judge's are temperature, seed, num_ctx, num_predict, passage_tokens, timeout and max_concurrency"
    temperature: float = Field(default=0.7, ge=0, le=2, description="Sampling temperature of every verdict.")
    num_predict: int = Field(default=256, ge=16, description="Maximum length of a verdict in tokens, without the reasoning before it.")
    passage_tokens: int = Field(default=3000, ge=20, description="Answers are truncated to this many tokens before they are judged.")
    context_tokens: int = Field(default=6000, ge=50, description="Maximum number of tokens of both answers together.")


class AnswerPair(NamedTuple):
    """A pair of answers to be judged once; `a` and `b` are rows of runs."""

    a: Row
    b: Row
    repeat: int
    judge: str

    @property
    def first(self) -> str:
        """Return which answer is shown first: "A" and "B" alternate over the repeats, and over the questions in each repeat."""
        return "AB"[(self.repeat + zlib.crc32(str(self.a["id"]).encode())) % 2]

    @property
    def ordered_answers(self) -> list[str]:
        """Return the texts of both answers in the order in which the judge sees them."""
        texts = [answer_text(self.a), answer_text(self.b)]
        return texts if self.first == "A" else texts[::-1]

    @property
    def key(self) -> str:
        """Return a hash of everything that the verdict depends on."""
        parts = [self.judge, str(self.repeat), self.a["question"], *self.ordered_answers, PREFER.task]
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def answer_text(row: Row) -> str:
    """Return an answer as text for the judge: what a reader gets, with the cited sources."""
    sources = dict.fromkeys(str(citation["source"]) for citation in row.get("citations") or () if citation.get("cited", True))
    cited = f"Sources: {', '.join(sources)}" if sources else ""
    return "\n".join(filter(None, (reader_text(row), cited)))


def reader_text(row: Row) -> str:
    """Return what a reader gets as the answer: its sentences (with `style=full`), after the short answer if they lack it."""
    answer, text = str(row.get("answer") or ""), str(row.get("text") or "")
    short = "" if contains_answer(without_marks(text), answer) else answer
    return "\n".join(filter(None, (short, text, str(row.get("explanation") or ""))))


def sides_without_text(pairs: Sequence[tuple[Row, Row]]) -> list[str]:
    """List the strategies that have short answers alone (`style=short`) where others have sentences: they are not judged alike."""
    has_text: dict[str, bool] = {}
    for row in (row for pair in pairs for row in pair):
        has_text[row["strategy"]] = has_text.get(row["strategy"], False) or bool(row.get("text"))
    return [strategy for strategy, has in has_text.items() if not has and any(has_text.values())]


def judge_pairs(
    pairs: Sequence[tuple[Row, Row]],
    options: Mapping[str, Any],
    file: Path,
    repeats: int = DEFAULT_REPEATS,
    progress: Progress = ignore_progress,
) -> list[Row]:
    """Return a verdict for each pair and repeat; verdicts are appended to `file` as they come, and existing ones are reused. Blocking.

    A failed verdict has an `error` and is requested again by the next call. UsageError for the embedded model.
    """
    settings = JudgeSettings.model_validate(dict(options))
    name = current_model(settings).name
    if is_embedded(name):
        raise UsageError("the embedded model cannot judge answers", "name a language model, such as --judge ollama:llama3.1:8b")
    valid_pairs = [(a, b) for a, b in pairs if not (a.get("error") or b.get("error"))]  # failed questions have no answer to judge
    requested = [AnswerPair(a, b, repeat, name) for a, b in valid_pairs for repeat in range(repeats)]
    with ResultLog(file) as log:
        lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        saved: dict[str, Row] = {row["key"]: row for row in (parse_json(line, f"line {number} of {str(file)!r}") for number, line in lines)}
        missing = [pair for pair in requested if pair.key not in saved]
        new_verdicts = blocking(_request_verdicts(missing, settings, log, progress))
    # A saved verdict may come from another question with the same text, or from another strategy.
    return [{**(saved.get(pair.key) or new_verdicts[pair.key]), **_pair_fields(pair)} for pair in requested]


async def _request_verdicts(missing: Sequence[AnswerPair], settings: JudgeSettings, log: ResultLog, progress: Progress) -> dict[str, Row]:
    async def one(pair: AnswerPair) -> Row:
        row = await _request_verdict(pair, settings.model_copy(update={"seed": settings.seed + pair.repeat}), budget)
        if row["error"] is None:
            log.write([row])
        return row

    budget = Budget.open(settings, Usage(), time.time(), reserves_final_call=False)
    rows = await run_concurrently(one, missing, max_parallel_calls(settings), lambda done: progress(done, len(missing), "verdicts"))
    return {pair.key: row if isinstance(row, dict) else _verdict_row(pair, str(row)) for pair, row in zip(missing, rows, strict=True)}


async def _request_verdict(pair: AnswerPair, settings: JudgeSettings, budget: Budget) -> Row:
    answers = tuple(
        Passage(id=str(number), text=text, source=f"answer {number}", score=1.0, metadata={"title": f"Answer {number}"})
        for number, text in enumerate(pair.ordered_answers, 1)
    )
    with call_context(settings, budget):
        try:
            reply = await ask(PREFER, answers, field="", question=pair.a["question"])
        except ReplyError as error:
            return _verdict_row(pair, str(error))
    if len(reply.passages) < len(answers):
        return _verdict_row(pair, "both answers do not fit into the judge's context window: raise num_ctx, or lower passage_tokens")
    return _verdict_row(pair, None, reply.value.model_dump())


def _verdict_row(pair: AnswerPair, error: str | None, reply: Mapping[str, str] | None = None) -> Row:
    second = "AB".replace(pair.first, "")
    winner = {"1": pair.first, "2": second, "TIE": TIE}
    verdicts = {name: winner[reply[name]] for name in CRITERIA} if reply else {}
    reasons = reply["reasons"] if reply else ""
    placed = {"judge": pair.judge, "repeat": pair.repeat, "first": pair.first}
    return {"key": pair.key, **_pair_fields(pair), **placed, **verdicts, "reasons": reasons, "error": error}


def _pair_fields(pair: AnswerPair) -> Row:
    """Return the data set, question and strategies of a verdict."""
    fields = {name: pair.a[name] for name in ("dataset", "id", "question")}
    sides = {name: " ".join(filter(None, (row["strategy"], row.get("variant")))) for name, row in (("a", pair.a), ("b", pair.b))}
    return {**fields, **sides}
