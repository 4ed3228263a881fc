"""The shapes of questions in docs/reference.md: the model calls of each shape of question with each wiring."""

from collections.abc import Iterator

from tests.graphs.shapes.reader import Shape
from tests.graphs.shapes.table import SHAPES
from tests.graphs.test_shapes import WIRINGS, asked

HEAD = """## Shapes of questions

How many model calls each strategy needs for a question when every reply of the model is right. In the tests a perfect reader takes the
place of the model. It answers each call from the content of that call only (`tests/graphs/shapes/reader.py`), so a wrong result is the
strategy's fault and not the model's. Command: `python -m pytest tests/graphs/test_shapes.py`.

A figure in the first table is the number of model calls until the right answer, with its citations. If the documents do not contain the
answer, the right answer is *Unknown*. Strategies that end without a final call make one more call for the answer in sentences,
if the reply that answers has none (`style=full`). Limits: depth 4 for `tor` and `prune`, six sub-questions for `chain` and
`self-ask`, twelve sentences for `ircot`, seven searches for `react`.

| in a column | means |
|---|---|
| tor | with a judge that scores each pair of sub-questions |
| rubric | each pair is also scored before the search (`rubric=True`) |
| unjudged | without the judge (`judged=False`) |
| joint, staged | one call answers a branch, decomposes it or names entities; or one call after another (`joint=False`) |
| single, recursive | one final call over the whole tree; or one call a branch, from the leaves up (`backtrace="recursive"`) |

In the names of shapes, a *bridge* is a question whose sub-questions need the answers of earlier ones. *Entity* marks questions that need
a look-up of a single name.

"""
CANNOT = "–"


def section() -> str:
    """Write the section."""
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
    reasons = {(why, wiring) for shape in SHAPES for wiring, why in shape.cannot.items()}
    told = [f"{', '.join(sorted(wiring for one, wiring in reasons if one == why))}: {why}" for why in sorted({why for why, _ in reasons})]
    yield f"{CANNOT} : the strategy cannot express the question, and answers Unknown ({'; '.join(told)})."


def _questions() -> Iterator[str]:
    yield "| shape | question | answer |"
    yield "|---|---|---|"
    for shape in SHAPES:
        yield f"| {shape.name} | {shape.question} | {shape.answer} |"
