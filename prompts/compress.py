"""Answer from the facts and passages that the filter kept (Iterative RAG, step 4)."""

from pydantic import Field

from ramify.prompts.lenient_types import Citations, Paragraph, Said, Share, Span
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, example, passage


class Compressed(Said):
    """A short answer and the explanation that cites its sources."""

    answer: Span = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; Unknown if it cannot be told"
    )
    confidence: Share = Field(description="how sure you are that the answer is right")
    citations: Citations = Field(description="the numbers of the passages that support the answer")
    explanation: Paragraph = Field(default="", description="how the answer follows, citing source and page in brackets")


COMPRESS = Prompt(
    name="compress",
    task="Answer the question from the facts and passages alone, then explain it, citing sources and pages.",
    template="Facts:\n{facts}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Compressed,
    thought="what the facts come to",
    examples=(
        example(
            {
                "thought": "1847 is before 1852.",
                "answer": "Vane Bridge",
                "confidence": 0.96,
                "citations": [1, 2],
                "explanation": "Vane Bridge opened in 1847 [bridges.pdf:4], Hollin Bridge in 1852 [bridges.pdf:3].",
            },
            facts=["Hollin Bridge opened in 1852.", "Vane Bridge opened in 1847."],
            passages=[
                passage("Hollin Bridge", "It opened in 1852.", "bridges.pdf:3"),
                passage("Vane Bridge", "It opened in 1847.", "bridges.pdf:4"),
            ],
            question=FIRST_OPENED,
        ),
        example(
            {
                "thought": "Nothing tells who built it.",
                "answer": "Unknown",
                "confidence": 0.9,
                "citations": [],
                "explanation": "Only the height is told [lights.pdf:2].",
            },
            facts=[],
            passages=[passage("Skerry Light", "It is 63 metres tall.", "lights.pdf:2")],
            question="Who built Skerry Light?",
        ),
    ),
)
