"""docs/shapes.md tells what comes of each shape in each wiring; RAMIFY_SNAPSHOTS=write writes it anew."""

import os
from collections.abc import Iterator
from pathlib import Path

from tests.graphs.shapes.reader import Shape
from tests.graphs.shapes.table import SHAPES
from tests.graphs.test_shapes import WIRINGS, asked

PAGE = Path(__file__).parents[2] / "docs" / "shapes.md"
HEAD = """# Shapes of questions

What each strategy makes of a question when every reply of the model is right. A perfect reader stands for the model: it answers each call
from what that call shows, and from nothing else (`tests/graphs/shapes/reader.py`). So whatever is lost here is lost by the tree and not by
the model. Each figure is the number of model calls until the right answer, with its citations; *Unknown* is the right answer where nothing
tells it. Where no last call is due, one call more writes the answer in sentences (`style=full`).
`python -m pytest tests/graphs/test_shapes.py` runs all of it.

The tree strategies may grow to depth 4, the chain and Self-Ask to six sub-questions, IRCoT to twelve sentences, ReAct to seven
searches.

"""
CANNOT = "–"


def page() -> str:
    """Write the page."""
    return HEAD + "\n".join([*_table(), "", *_notes(), "", *_questions()]) + "\n"


def _table() -> Iterator[str]:
    yield f"| shape | {' | '.join(WIRINGS)} |"
    yield f"|---|{'---|' * len(WIRINGS)}"
    for shape in SHAPES:
        yield f"| {shape.name} | {' | '.join(_cell(shape, wiring) for wiring in WIRINGS)} |"


def _cell(shape: Shape, wiring: str) -> str:
    if any(wiring.startswith(beginning) for beginning in shape.cannot):
        return CANNOT
    result = asked(shape.name, wiring)
    assert result.answer == shape.answer
    return str(result.usage.llm_calls)


def _notes() -> Iterator[str]:
    reasons = {f"{wiring}: {why}" for shape in SHAPES for wiring, why in shape.cannot.items()}
    yield f"{CANNOT} : the strategy cannot express it, and says Unknown ({'; '.join(sorted(reasons))})."


def _questions() -> Iterator[str]:
    yield "| shape | question | answer |"
    yield "|---|---|---|"
    for shape in SHAPES:
        yield f"| {shape.name} | {shape.question} | {shape.answer} |"


def test_the_page_is_true() -> None:
    told = page()
    if os.environ.get("RAMIFY_SNAPSHOTS") == "write":
        PAGE.write_text(told, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == told, "look at what has changed, then run with RAMIFY_SNAPSHOTS=write"
