"""Answer a question about everything from the points that its batches contribute (GraphRAG, reduce)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE, AtMost, Numbers, Paragraph, Quotes, Said, Share, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage

MOST, CITED = 5, 16
"""Points that an answer is made of, and those it cites."""


class Reduced(Said):
    """The answer to the whole question."""

    answer: Paragraph = Field(description="the answer in a few sentences; Unknown if the points do not answer the question")
    points: Annotated[Texts, AtMost(MOST, each=SENTENCE)] = Field(
        description="what the answer is made of, one thing each, with names and figures, the most important first; an empty list if Unknown"
    )
    confidence: Share = Field(description="how well the points you were given support the answer")
    citations: Annotated[Numbers, AtMost(CITED)] = Field(description="the numbers of the given points that the answer uses")
    quotes: Quotes

    @property
    def text(self) -> str:
        """Return what was quoted, a line each, else the answer."""
        return "\n".join(line.strip() for line in self.quotes if line.strip()) or self.answer.strip()


REDUCE = Prompt(
    name="reduce",
    task=(
        "Different readers have each read a part of a collection of documents and noted points that help to answer the question, each with how "
        "much it helps, the most helpful first. Write one answer from them: keep what answers the question, join what belongs together, say "
        "each thing once. Use nothing else."
    ),
    template="Points:\n{passages}\n\nQuestion: {question}",
    reply=Reduced,
    examples=(
        example(
            {
                "answer": "Two things stand out: bridges and lighthouses.",
                "points": ["Hollin Bridge opened in 1852, Vane Bridge in 1847.", "Skerry Light is 63 metres tall."],
                "confidence": 0.8,
                "citations": [1, 2, 3],
            },
            passages=[
                passage("helpfulness 70", "Hollin Bridge opened in 1852.", "point 0.1.0"),
                passage("helpfulness 60", "Vane Bridge opened in 1847.", "point 0.1.1"),
                passage("helpfulness 40", "Skerry Light is 63 metres tall.", "point 0.0.0"),
            ],
            question="What are the main themes?",
        ),
        example(
            {"answer": "Unknown", "points": [], "confidence": 0.9, "citations": []},
            passages=[passage("helpfulness 5", "Trout live in the Oskel.", "point 0.2.0")],
            question="What was built in the valley, and when?",
        ),
    ),
)
