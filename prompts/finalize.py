"""Answer the whole question from the tree and its best passages (ToR-RAG finalizer, PruneRAG single backtrace, chain)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.lenient import Citations, Said, Share, Span, word_of
from ramify.prompts.prompt import Prompt

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
        "Answer the question from the findings and the passages, with the shortest exact answer and nothing else. Where findings conflict, settle it in this order: "
        "(1) trust the finding with the more trustworthy source; (2) follow the majority; (3) prefer what fits the question best. If that "
        "does not settle it, say Unknown. Pruned findings are shown only so that their mistakes are not repeated."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Final,
)
