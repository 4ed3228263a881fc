"""What a single line says of itself, as a number to take the mean of; none where it says nothing."""

from collections.abc import Callable, Sequence
from typing import Any

from ramify.evaluation.report.run import Line

Value = Callable[[Line], float | None]


def values_of(lines: Sequence[Line], value: Value) -> list[float]:
    """List the values of those lines that have one."""
    return [told for line in lines if (told := value(line)) is not None]


def score(name: str) -> Value:
    """Read a score of the answer; a failed line scores nothing, and where no gold answer is known, no line does."""
    return lambda line: 0.0 if line.failed and line.scored else _number(line.row.get(name))


def found(name: str) -> Value:
    """Read a score of what was retrieved; a failed line with gold documents scores nothing, one without gold is not counted."""

    def value(line: Line) -> float | None:
        if line.failed:
            return 0.0 if line.row.get("gold_documents") else None
        if line.searched and name == "supporting_f1":
            return None  # nothing was asked, so nothing was cited
        return _number((line.row.get("retrieval") or {}).get(name))

    return value


def all_found(line: Line) -> float | None:
    """Tell whether all gold was found and, of a strategy, shown to the model; none where it is not known what there is to find."""
    if line.failed:
        return 0.0 if line.row.get("gold_documents") else None
    return float(bool(line.row.get("gold_retrieved"))) if line.row.get("retrieval") else None


def spent(*names: str) -> Value:
    """Read what a question cost, as a sum of parts; a failed line has no cost."""

    def value(line: Line) -> float | None:
        usage = line.row.get("usage")
        return sum(float(usage.get(name) or 0) for name in names) if usage else None

    return value


def forgotten(line: Line) -> float | None:
    """Tell whether all gold was retrieved and the answer is wrong all the same; none where not all gold was retrieved."""
    return float(not line.right) if line.row.get("gold_retrieved") and line.scored else None


def abstained_rightly(line: Line) -> float | None:
    """Tell of an abstention whether the question has no answer."""
    return float(bool(line.row.get("unanswerable"))) if line.row.get("abstained") and not line.failed else None


def unanswerable_seen(line: Line) -> float | None:
    """Tell of a question without an answer whether the strategy abstained."""
    return float(bool(line.row.get("abstained"))) if line.row.get("unanswerable") else None


def confident(lines: Sequence[Line]) -> tuple[list[float], list[bool]]:
    """List confidences and whether the answers are right, of the lines that have an answer."""
    sure = [line for line in lines if not line.failed and line.scored and _number(line.row.get("confidence")) is not None]
    return [float(line.row["confidence"]) for line in sure], [line.right for line in sure]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
