"""Answer a question about everything from one batch of reports, and say how much that helps (GraphRAG, map)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE, AtMost, Citations, Percent, Quotes, Said, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage

MOST = 5
_BUILT = "What was built in the valley, and when?"


class Partial(Said):
    """What a batch of reports says of the question."""

    points: Annotated[Texts, AtMost(MOST, each=SENTENCE)] = Field(
        description="what these reports say that answers the question, one thing each, with names and figures; an empty list if nothing does"
    )
    helpfulness: Percent = Field(description="how much this helps to answer the question: 0 not at all, 100 it answers it fully")
    citations: Citations = Field(description="the numbers of the reports it rests on")
    quotes: Quotes

    @property
    def text(self) -> str:
        """Write what was quoted, else the points, a line each."""
        return "\n".join(point.strip() for point in self.quotes or self.points if point.strip())


MAP_REPORT = Prompt(
    name="map_report",
    task=(
        "You see a part of the reports on a collection of documents; others see the other parts. Say what this part contributes to the answer "
        "of the question, and how helpful that is. Use nothing but the reports. Where they contribute nothing, helpfulness is 0."
    ),
    template="Reports:\n{passages}\n\nQuestion: {question}",
    reply=Partial,
    examples=(
        example(
            {
                "points": ["Hollin Bridge opened in 1852 and was widened in 1904.", "Vane Bridge opened in 1847."],
                "helpfulness": 70,
                "citations": [1],
            },
            passages=[
                passage("Hollin Bridge, Vane Bridge", "Hollin Bridge opened in 1852 and was widened in 1904. Vane Bridge opened in 1847."),
                passage("Trout", "Trout live in the Oskel."),
            ],
            question=_BUILT,
        ),
        example(
            {"points": [], "helpfulness": 0, "citations": []},
            passages=[passage("Trout", "Trout live in the Oskel.")],
            question=_BUILT,
        ),
    ),
)
