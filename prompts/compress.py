"""Answer from the facts and passages that the filter kept (Iterative RAG, step 4)."""

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, OSKEL, example, passage
from ramify.prompts.lenient_types import Citations, Fraction, ModelReply, Paragraph, ShortAnswer
from ramify.prompts.prompt import Prompt


class Compressed(ModelReply):
    """A short answer and the explanation that cites its sources."""

    answer: ShortAnswer = Field(description="Yes or No, a number, a date, a name or a short phrase, or Unknown")
    confidence: Fraction = Field(description="how sure you are of it")
    citations: Citations = Field(description="the numbers of the passages that support it")
    explanation: Paragraph = Field(default="", description="how the answer follows, in one sentence")


COMPRESS = Prompt(
    name="compress",
    task="Answer the question from the facts and passages alone. Facts were noted while reading and may be wrong.",
    template="Facts:\n{facts}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Compressed,
    thought="what they come to, and what is missing",
    concludes=True,
    examples=(
        example(
            {
                "thought": "1847 is before 1852.",
                "text": "Vane Bridge opened in 1847 [3], Hollin Bridge in 1852 [1].",
                "answer": "Vane Bridge",
                "confidence": 0.96,
                "citations": [1, 3],
                "explanation": "Of 1847 and 1852, the first is earlier.",
            },
            facts=["Hollin Bridge opened in 1852.", "Vane Bridge opened in 1847."],
            passages=[
                passage("Hollin Bridge", "It opened in 1852.", "bridges.pdf:3"),
                OSKEL,
                passage("Vane Bridge", "It opened in 1847.", "bridges.pdf:4"),
            ],
            question=FIRST_OPENED,
        ),
    ),
)
