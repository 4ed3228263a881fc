"""Answer the whole question from the tree and its best passages (ToR-RAG finalizer, PruneRAG single backtrace, chain)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.lenient_types import Citations, Said, Share, Span, word_of
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import HOLLIN, example, finding, passage

Step = Literal["agreement", "trust", "majority", "fit", "unsettled"]


class Final(Said):
    """The answer, what it rests on, and how conflicting findings were settled."""

    answer: Span = Field(description="Yes or No, a number, a date, a name or a short span; Unknown if it cannot be settled")
    confidence: Share = Field(description="how sure you are that the answer is right")
    citations: Citations = Field(description="the numbers of the passages that support the answer")
    settled_by: Annotated[Step, word_of(Step, otherwise="agreement")] = Field(
        default="agreement", description="agreement if the findings do not conflict, otherwise the step that settled the conflict"
    )


FINALIZE = Prompt(
    name="finalize",
    task=(
        "Answer the question from the findings and the passages, with the shortest exact answer and nothing else. Where findings conflict, "
        "settle it in this order: "
        "(1) trust the finding with the more trustworthy source; (2) follow the majority; (3) prefer what fits the question best. If that "
        "does not settle it, say Unknown. Pruned findings are shown only so that their mistakes are not repeated."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Final,
    thought="what the findings come to, and where they conflict",
    examples=(
        example(
            {
                "thought": "Edda Rask designed it, and she was born in Tarnholm.",
                "answer": "Tarnholm",
                "confidence": 0.96,
                "citations": [1, 2],
                "settled_by": "agreement",
            },
            findings=[
                finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97, "hollin.txt"),
                finding("0.1", "Where was Edda Rask born?", "Tarnholm", 0.95, "rask.txt"),
            ],
            passages=[
                passage("Hollin Bridge", "It was designed by Edda Rask.", "hollin.txt"),
                passage("Edda Rask", "Rask was born in Tarnholm.", "rask.txt"),
            ],
            question=HOLLIN,
        ),
        example(
            {
                "thought": "The height of one of the two was not found.",
                "answer": "Unknown",
                "confidence": 0.9,
                "citations": [],
                "settled_by": "unsettled",
            },
            findings=[
                finding("0.0", "How tall is Skerry Light?", "63 metres", 0.97),
                finding("0.1", "How tall is Mirefell Light?", "Unknown", 0.3),
            ],
            passages=[passage("Skerry Light", "It is 63 metres tall.")],
            question="Which is taller, Skerry Light or Mirefell Light?",
        ),
        example(
            {
                "thought": "The county's register is more to be trusted than a travel diary.",
                "answer": "1852",
                "confidence": 0.85,
                "citations": [1],
                "settled_by": "trust",
            },
            findings=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.9, "county register"),
                finding("0.1", "In which year was Hollin Bridge opened?", "1853", 0.8, "travel diary"),
            ],
            passages=[
                passage("County register", "Hollin Bridge, opened 1852.", "county register"),
                passage("Travel diary", "They opened the bridge in 1853, I think.", "travel diary"),
            ],
            question="When did Hollin Bridge open?",
        ),
    ),
)
