"""Expectations from answers that are right: one that a person accepts, those rated in a chat, those of an evaluation."""

import json
from pathlib import Path
from typing import Any

from ramify.graphs.ratings import rated_answers
from ramify.nodes.tree import is_unknown
from ramify.testing.expectations import Expectation
from ramify.tools.errors import UsageError


def expect_answer(question: str, answer: str, **how: Any) -> Expectation:
    """Return the expectation of an answer as it was given; of Unknown, that it stays so. `how`: strategy, settings, filter."""
    expected: dict[str, Any] = {"unknown": True} if is_unknown(answer) else {"answer": [answer]}
    return Expectation(question=question, **expected, **how)


def expect_rated(where: str) -> list[Expectation]:
    """Return the expectations of answers rated up in a memory of conversations, the oldest first; blocking."""
    return [expect_answer(rated.question, rated.answer) for rated in rated_answers(where) if rated.rating == "up"]


def expect_right(run: Path) -> list[Expectation]:
    """Return the expectations of the right answers of a run of `ramify eval`, the first of each question; UsageError if it has none."""
    file = run / "results.jsonl" if run.is_dir() else run
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        right = {str(row["question"]): str(row["answer"]) for row in reversed(rows) if row.get("em") == 1}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise UsageError(f"cannot read results in {str(file)!r} ({error})", "give the folder of a run of `ramify eval`") from error
    return [expect_answer(question, answer) for question, answer in reversed(right.items())]
