"""Answer the whole question from the tree and its best passages (ToR-RAG finalizer, PruneRAG single backtrace, chain)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts._worked_examples import HOLLIN, example, finding, passage
from ramify.prompts.lenient_types import Citations, Fraction, ModelReply, ShortAnswer, one_of_words
from ramify.prompts.prompt import Prompt

Step = Literal["agreement", "trust", "majority", "fit", "unsettled"]


class Final(ModelReply):
    """The answer, what it rests on, and how conflicting findings were settled."""

    answer: ShortAnswer = Field(description="Yes, No, a number, a date, a name or a short phrase, or Unknown")
    confidence: Fraction = Field(description="how sure you are of it")
    citations: Citations = Field(description="the numbers of the passages that support it")
    settled_by: Annotated[Step, one_of_words(Step, otherwise="agreement")] = Field(
        default="agreement", description="what settled a conflict, if any"
    )


FINALIZE = Prompt(
    name="finalize",
    task=(
        "Answer the question from the findings and passages alone; findings may be wrong. If they conflict, trust the better source, then the "
        "majority, then what fits the question; else say Unknown."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Final,
    thought="what they come to, and what is missing",
    concludes=True,
    examples=(
        example(
            {
                "thought": "Passage 2 says Tarnholm.",
                "text": "Edda Rask designed it [1]. She was born in Tarnholm [2].",
                "answer": "Tarnholm",
                "confidence": 0.95,
                "citations": [1, 2],
                "settled_by": "trust",
            },
            findings=[
                finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97),
                finding("0.1", "Where was Edda Rask born?", "Oskel", 0.4),
            ],
            passages=[
                passage("Hollin Bridge", "It was designed by Edda Rask."),
                passage("Edda Rask", "She was born in Tarnholm."),
            ],
            question=HOLLIN,
        ),
    ),
)
