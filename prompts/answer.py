"""Answer one question from its passages (ToR-RAG partial answers, PruneRAG staged answers, naive and chain)."""

from pydantic import BaseModel, Field

from ramify.prompts.prompt import Prompt


class Answered(BaseModel):
    """A short answer, how sure the model is, and the passages it rests on."""

    answer: str = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; Unknown if the passages do not say"
    )
    confidence: float = Field(ge=0, le=1, description="how sure you are that the answer is right")
    citations: list[int] = Field(description="the numbers of the passages that support the answer")


ANSWER = Prompt(
    name="answer",
    task="Answer the question from the passages alone. Do not use other knowledge. If the passages do not contain the answer, say Unknown.",
    template="Passages:\n{passages}\n\nQuestion: {question}",
    reply=Answered,
)
