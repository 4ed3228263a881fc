"""Prompts of global search (GraphRAG): the points of one batch of reports (map), and the answer from all points (reduce)."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from pydantic import Field, WrapValidator

from ramify.prompts.lenient_types import (
    PASSAGE_NUMBER,
    SENTENCE_CHARS,
    TEXT_CHARS,
    AnswerText,
    AtMost,
    Fraction,
    ModelReply,
    Numbers,
    Quotes,
    Texts,
    line_tokens,
    percent,
)
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage

MAX_POINTS, MAX_LINE_CHARS = 5, SENTENCE_CHARS + 20
"""Points of a batch in the shortest reply, and characters of a line."""
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
    quotes: Quotes = Field(default_factory=list)

    @property
    def scored(self) -> tuple[list[ScoredPoint], int]:
        """Return the points that can be read, the most helpful first, and how many lines cannot be."""
        lines = self.points or self.quotes
        points = [point for line in lines if (point := _parse_line(line))]
        return sorted(points, key=lambda point: -point.score), len(lines) - len(points)


MAP_REPORT = Prompt(
    name="map_report",
    purpose="List the points of one batch of reports on a question about all documents, each with its score and reports (GraphRAG, map)",
    task=(
        "You see a part of the reports on a collection of documents; others see the other parts. List what this part contributes to the answer "
        "of the question, each point with how much it helps and the reports it rests on. Use nothing but the reports."
    ),
    template="Reports:\n{passages}\n\nQuestion: {question}",
    reply=Partial,
    examples=(
        example(
            Partial(
                points=[
                    "80 | 1 | Hollin Bridge opened in 1852 and was widened in 1904.",
                    "60 | 1, 3 | Vane Bridge, which opened in 1847, is older than the town's market.",
                ]
            ),
            passages=[
                passage("Hollin Bridge, Vane Bridge", "Hollin Bridge opened in 1852 and was widened in 1904. Vane Bridge opened in 1847."),
                passage("Trout", "Trout live in the Oskel."),
                passage("Vane", "The market of Vane was founded in 1860."),
            ],
            question=_BUILT,
        ),
        example(Partial(points=[]), passages=[passage("Trout", "Trout live in the Oskel.")], question=_BUILT),
    ),
)


def max_points(num_predict: int) -> int:
    """Return how many points a reply of `num_predict` tokens has room for."""
    return max(MAX_POINTS, num_predict // line_tokens(MAX_LINE_CHARS))


def map_prompt(num_predict: int) -> Prompt[Partial]:
    """Return the prompt for the points of a batch, with as many as a reply of `num_predict` tokens has room for."""
    return MAP_REPORT.with_bounds(points=max_points(num_predict))


MAX_CITATIONS = 16
"""Points that an answer cites apart from those in its text."""
_CHARS_PER_TOKEN, _OTHER_TOKENS = 3, 128
"""Characters of a token of an answer, which has numbers in brackets, and tokens of what stands beside it in the reply."""


class Reduced(ModelReply):
    """The answer to the whole question."""

    answer: AnswerText = Field(
        description="the whole answer in sentences, with names and figures, the most important first; each ends with the numbers of its "
        "points, such as [2]; Unknown if the points do not answer the question"
    )
    confidence: Fraction = Field(description="how well the points support the answer")
    citations: Annotated[Numbers, AtMost(MAX_CITATIONS)] = Field(description="the numbers of the points that the answer uses")
    quotes: Quotes = Field(default_factory=list)

    @property
    def text(self) -> str:
        """Return what was quoted, a line each, else the answer."""
        return "\n".join(line.strip() for line in self.quotes if line.strip()) or self.answer.strip()


REDUCE = Prompt(
    name="reduce",
    purpose="Answer a question about all documents from the points of its batches (GraphRAG, reduce)",
    task=(
        "Readers have each read a part of a collection of documents and noted points that help to answer the question, each with how much it "
        "helps, the most helpful first. Write one answer from them: keep what answers the question, join what belongs together, say each "
        "thing once. Use nothing else."
    ),
    template="Points:\n{passages}\n\nQuestion: {question}",
    reply=Reduced,
    examples=(
        example(
            Reduced(
                answer="Bridges and lighthouses stand out [1, 2, 4]. Hollin Bridge opened in 1852, Vane Bridge in 1847 [1, 2].",
                confidence=0.8,
                citations=[1, 2, 4],
            ),
            passages=[
                passage("helpfulness 70", "Hollin Bridge opened in 1852.", "point 0.1.0"),
                passage("helpfulness 60", "Vane Bridge opened in 1847.", "point 0.1.1"),
                passage("helpfulness 50", "Trout live in the Oskel.", "point 0.2.0"),
                passage("helpfulness 40", "Skerry Light is 63 metres tall.", "point 0.0.0"),
            ],
            question="What are the main themes?",
        ),
        example(
            Reduced(answer="Unknown", confidence=0.9, citations=[]),
            passages=[passage("helpfulness 5", "Trout live in the Oskel.", "point 0.2.0")],
            question="What was built in the valley, and when?",
        ),
    ),
)


def reduce_prompt(num_predict: int) -> Prompt[Reduced]:
    """Return the prompt for the whole answer, which may be as long as a reply of `num_predict` tokens has room for."""
    return REDUCE.with_bounds(answer=max(TEXT_CHARS, _CHARS_PER_TOKEN * (num_predict - _OTHER_TOKENS)))
