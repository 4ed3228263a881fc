"""Answer one question from its passages (ToR-RAG partial answers, PruneRAG staged answers, naive and chain)."""

from pydantic import Field

from ramify.prompts.lenient import Citations, Said, Share, Span
from ramify.prompts.prompt import Prompt


class Answered(Said):
    """A short answer, how sure the model is, and the passages it rests on."""

    answer: Span = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; Unknown if the passages do not say"
    )
    confidence: Share = Field(description="how sure you are that the answer is right")
    citations: Citations = Field(description="the numbers of the passages that support the answer")


ANSWER = Prompt(
    name="answer",
    task="Answer the question from the passages alone. Do not use other knowledge. If the passages do not contain the answer, say Unknown.",
    template="Passages:\n{passages}\n\nQuestion: {question}",
    reply=Answered,
)
