"""List the points of one batch of reports on a question about all documents, each with its score and reports (GraphRAG, map)."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from pydantic import Field, WrapValidator

from ramify.prompts._worked_examples import example, passage
from ramify.prompts.lenient_types import PASSAGE_NUMBER, SENTENCE_CHARS, AtMost, ModelReply, Quotes, Texts, percent
from ramify.prompts.prompt import Prompt

MAX_POINTS, MAX_LINE_CHARS = 5, SENTENCE_CHARS + 20
"""Points of a batch, and characters of a line."""
_PATTERN = rf'^[0-9]{{1,3}} \| [0-9]{{1,2}}(, [0-9]{{1,2}}){{0,2}} \| [^"\\\n]{{1,{SENTENCE_CHARS}}}$'
_LINE: dict[str, Any] = {"items": {"type": "string", "maxLength": MAX_LINE_CHARS, "pattern": _PATTERN}}
"""JSON schema of a line for a server's grammar. Quotation marks are excluded, because they would end its text."""
_BUILT = "What was built in the valley, and when?"


class ScoredPoint(NamedTuple):
    """A parsed point: its score from 0 to 100, the numbers of its reports, and its text."""

    score: int
    reports: tuple[int, ...]
    text: str


def _parse_line(line: str) -> ScoredPoint | None:
    """Return the point of a line; None without a score or text."""
    score, _, rest = line.partition("|")
    reports, _, text = rest.partition("|")
    try:
        return ScoredPoint(percent(score), tuple(map(int, PASSAGE_NUMBER.findall(reports))), text.strip()) if text.strip() else None
    except ValueError:
        return None


def _reject_unreadable(given: Any, read: Callable[[Any], list[str]]) -> list[str]:
    """Reject a nonempty reply without any valid line as malformed."""
    lines = [line for line in read(given) if line.strip()]
    if (lines or given not in (None, "", [], [""])) and not any(map(_parse_line, lines)):
        raise ValueError("no point has the form: score | numbers of reports | what they say")
    return lines


class Partial(ModelReply):
    """What a batch of reports says of the question."""

    points: Annotated[Texts, AtMost(MAX_POINTS, each=MAX_LINE_CHARS), WrapValidator(_reject_unreadable)] = Field(
        description="a line for each thing these reports say that helps to answer the question: how much it helps, 0 to 100 | the numbers of "
        "the reports it rests on | what they say, in one sentence with names and figures; an empty list if nothing helps",
        json_schema_extra=_LINE,
    )
    quotes: Quotes

    @property
    def scored(self) -> tuple[list[ScoredPoint], int]:
        """Return the points that can be read, the most helpful first, and how many lines cannot be."""
        lines = self.points or self.quotes
        found = [point for line in lines if (point := _parse_line(line))]
        return sorted(found, key=lambda point: -point.score), len(lines) - len(found)


MAP_REPORT = Prompt(
    name="map_report",
    task=(
        "You see a part of the reports on a collection of documents; others see the other parts. List what this part contributes to the answer "
        "of the question, each point with how much it helps and the reports it rests on. Use nothing but the reports."
    ),
    template="Reports:\n{passages}\n\nQuestion: {question}",
    reply=Partial,
    examples=(
        example(
            {
                "points": [
                    "80 | 1 | Hollin Bridge opened in 1852 and was widened in 1904.",
                    "60 | 1, 3 | Vane Bridge, which opened in 1847, is older than the town's market.",
                ]
            },
            passages=[
                passage("Hollin Bridge, Vane Bridge", "Hollin Bridge opened in 1852 and was widened in 1904. Vane Bridge opened in 1847."),
                passage("Trout", "Trout live in the Oskel."),
                passage("Vane", "The market of Vane was founded in 1860."),
            ],
            question=_BUILT,
        ),
        example({"points": []}, passages=[passage("Trout", "Trout live in the Oskel.")], question=_BUILT),
    ),
)
