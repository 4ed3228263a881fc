"""Judge which of two answers is better: a language model judges each pair several times, in both orders (GraphRAG's win rates).

Models favour the first answer (position bias, Zheng et al. 2023), so A and B alternate.
"""

import hashlib
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from ramify.evaluation.load.records import parse_json
from ramify.evaluation.task import Log, Row
from ramify.graphs.run import blocking
from ramify.nodes.asking.ask import ask, current_model
from ramify.nodes.asking.budget import Budget, working
from ramify.nodes.building.kept_replies import at_once, side_by_side
from ramify.nodes.settings import Settings, is_embedded
from ramify.nodes.state import Usage
from ramify.nodes.tree import Passage
from ramify.prompts import PREFER
from ramify.prompts.prefer import CRITERIA
from ramify.tools.errors import ReplyError, UsageError
from ramify.tools.index.progress import Progress, ignore_progress

JUDGED = "judged.jsonl"
REPEATS = 5
TIE = "tie"


class JudgeSettings(Settings):
    """Settings of the judge. At temperature 0, repeated verdicts would be identical."""

    listed: ClassVar[str] = "a judge's are temperature, seed, num_ctx, num_predict, passage_tokens, timeout and max_concurrency"
    temperature: float = Field(default=0.7, ge=0, le=2, description="Sampling temperature of every verdict.")
    num_predict: int = Field(default=256, ge=16, description="Longest verdict in tokens, without a thought before it.")
    passage_tokens: int = Field(default=3000, ge=20, description="An answer is cut to this many tokens before it is judged.")
    context_tokens: int = Field(default=6000, ge=50, description="Tokens of both answers together.")


class Duel(NamedTuple):
    """One verdict to ask for on two answers; `a` and `b` are lines of a run."""

    a: Row
    b: Row
    repeat: int
    judge: str

    @property
    def first(self) -> str:
        """Return which answer is shown first: "A" and "B" alternate over the repeats, and over the questions in each repeat."""
        return "AB"[(self.repeat + zlib.crc32(str(self.a["id"]).encode())) % 2]

    @property
    def shown(self) -> list[str]:
        """Return both answers in the order in which they are shown."""
        texts = [written(self.a), written(self.b)]
        return texts if self.first == "A" else texts[::-1]

    @property
    def key(self) -> str:
        """Return a hash of everything that the verdict depends on."""
        told = [self.judge, str(self.repeat), self.a["question"], *self.shown, PREFER.task]
        return hashlib.sha256("\x1f".join(told).encode()).hexdigest()[:24]


def written(row: Row) -> str:
    """Return an answer as text: answer, explanation and cited sources."""
    sources = dict.fromkeys(str(one["source"]) for one in row.get("citations") or () if one.get("cited", True))
    cited = f"Sources: {', '.join(sources)}" if sources else ""
    return "\n".join(filter(None, (str(row.get("answer") or ""), str(row.get("explanation") or ""), cited)))


def judge(
    pairs: Sequence[tuple[Row, Row]], options: Mapping[str, Any], file: Path, repeats: int = REPEATS, progress: Progress = ignore_progress
) -> list[Row]:
    """Return a verdict for each pair and repeat; each is saved in `file` at once, and saved ones are reused. Blocking.

    A failed verdict has an `error`, and is asked for again the next time. UsageError for the embedded model.
    """
    settings = JudgeSettings.model_validate(dict(options))
    name = current_model(settings).name
    if is_embedded(name):
        raise UsageError("the embedded model cannot judge answers", "name a language model, such as --judge ollama:llama3.1:8b")
    told = [(a, b) for a, b in pairs if not (a.get("error") or b.get("error"))]  # where no answer came, there is nothing to judge
    wanted = [Duel(a, b, repeat, name) for a, b in told for repeat in range(repeats)]
    with Log(file) as log:
        lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        held: dict[str, Row] = {row["key"]: row for row in (parse_json(line, f"line {number} of {str(file)!r}") for number, line in lines)}
        missing = [duel for duel in wanted if duel.key not in held]
        made = blocking(_judged(missing, settings, log, progress))
    # The same answers may have been judged for another question of the same words, or another strategy.
    return [{**(held.get(duel.key) or made[duel.key]), **_names(duel)} for duel in wanted]


async def _judged(missing: Sequence[Duel], settings: JudgeSettings, log: Log, progress: Progress) -> dict[str, Row]:
    async def one(duel: Duel) -> Row:
        row = await _verdict(duel, settings.model_copy(update={"seed": settings.seed + duel.repeat}), budget)
        if row["error"] is None:
            log.write([row])
        return row

    budget = Budget.open(settings, Usage(), time.time(), kept=False)
    made = await side_by_side(one, missing, at_once(settings), lambda done: progress(done, len(missing), "verdicts"))
    return {duel.key: row if isinstance(row, dict) else _row(duel, str(row)) for duel, row in zip(missing, made, strict=True)}


async def _verdict(duel: Duel, settings: JudgeSettings, budget: Budget) -> Row:
    answers = tuple(
        Passage(id=str(number), text=text, source=f"answer {number}", score=1.0, metadata={"title": f"Answer {number}"})
        for number, text in enumerate(duel.shown, 1)
    )
    with working(settings, budget):
        try:
            reply = await ask(PREFER, answers, field="", question=duel.a["question"])
        except ReplyError as error:
            return _row(duel, str(error))
    if len(reply.passages) < len(answers):
        return _row(duel, "the two answers do not fit into the judge's window: raise num_ctx, or lower passage_tokens")
    return _row(duel, None, reply.value.model_dump())


def _row(duel: Duel, error: str | None, said: Mapping[str, str] | None = None) -> Row:
    second = "AB".replace(duel.first, "")
    winner = {"1": duel.first, "2": second, "TIE": TIE}
    verdicts = {name: winner[said[name]] for name in CRITERIA} if said else {}
    reasons = said["reasons"] if said else ""
    placed = {"judge": duel.judge, "repeat": duel.repeat, "first": duel.first}
    return {"key": duel.key, **_names(duel), **placed, **verdicts, "reasons": reasons, "error": error}


def _names(duel: Duel) -> Row:
    """Return the data set, question and strategies of a verdict."""
    told = {name: duel.a[name] for name in ("dataset", "id", "question")}
    sides = {name: " ".join(filter(None, (row["strategy"], row.get("variant")))) for name, row in (("a", duel.a), ("b", duel.b))}
    return {**told, **sides}
