"""What a tool says of a result: a figure that claims no certainty, and the best of what was found on the way."""

from typing import Any

from ramify.graphs.run import Result, ResultUsage
from ramify.graphs.tool import format_answer
from ramify.nodes.tree import Branch


def result(*branches: Branch, **more: Any) -> Result:
    told = {"question": "Q", "strategy": "tor", "model": "m", "confidence": 1.0, "usage": ResultUsage(), "stopped_by": "finished"}
    return Result.model_validate({**told, "tree": {branch.path: branch for branch in branches}, **more})


def test_no_answer_is_shown_as_certain() -> None:
    assert "Confidence: 0.99 of 1" in format_answer(result(answer="Seine"))


def test_five_findings_at_most_and_none_that_was_pruned_or_failed() -> None:
    held = [Branch(path=f"0.{n}", question=f"Q{n}", status="leaf", answer=f"A{n}", confidence=0.5) for n in range(7)]
    dropped = [Branch(path=f"0.{n + 7}", question="Dropped", status=status, answer="No") for n, status in enumerate(("pruned", "failed"))]
    told = format_answer(result(*dropped, *held, answer="Unknown"))
    assert [line for line in told.splitlines() if line.startswith("- ")] == [f"- Q{n} A{n} (confidence 0.50)" for n in range(5)]
