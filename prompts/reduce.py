"""Answer a question about all documents from the points of its batches (GraphRAG, reduce)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import AnswerText, AtMost, Numbers, Quotes, Said, Share
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage

MOST, CITED = 5, 16
"""Points that an answer is made of where none was written, and those that one cites."""


class Reduced(Said):
    """The answer to the whole question."""

    answer: AnswerText = Field(
        description="the answer in one to eight sentences, with names and figures, the most important first; each ends with the numbers of "
        "its points, such as [2]; Unknown if the points do not answer the question"
    )
    confidence: Share = Field(description="how well the points support the answer")
    citations: Annotated[Numbers, AtMost(CITED)] = Field(description="the numbers of the points that the answer uses")
    quotes: Quotes

    @property
    def text(self) -> str:
        """Return what was quoted, a line each, else the answer."""
        return "\n".join(line.strip() for line in self.quotes if line.strip()) or self.answer.strip()


REDUCE = Prompt(
    name="reduce",
    task=(
        "Readers have each read a part of a collection of documents and noted points that help to answer the question, each with how much it "
        "helps, the most helpful first. Write one answer from them: keep what answers the question, join what belongs together, say each "
        "thing once. Use nothing else."
    ),
    template="Points:\n{passages}\n\nQuestion: {question}",
    reply=Reduced,
    examples=(
        example(
            {
                "answer": "Bridges and lighthouses stand out [1, 2, 4]. Hollin Bridge opened in 1852, Vane Bridge in 1847 [1, 2].",
                "confidence": 0.8,
                "citations": [1, 2, 4],
            },
            passages=[
                passage("helpfulness 70", "Hollin Bridge opened in 1852.", "point 0.1.0"),
                passage("helpfulness 60", "Vane Bridge opened in 1847.", "point 0.1.1"),
                passage("helpfulness 50", "Trout live in the Oskel.", "point 0.2.0"),
                passage("helpfulness 40", "Skerry Light is 63 metres tall.", "point 0.0.0"),
            ],
            question="What are the main themes?",
        ),
        example(
            {"answer": "Unknown", "confidence": 0.9, "citations": []},
            passages=[passage("helpfulness 5", "Trout live in the Oskel.", "point 0.2.0")],
            question="What was built in the valley, and when?",
        ),
    ),
)
