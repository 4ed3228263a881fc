"""Answer from the facts and passages that the filter kept (Iterative RAG, step 4)."""

from pydantic import BaseModel, Field

from ramify.prompts.prompt import Prompt


class Compressed(BaseModel):
    """A short answer and the explanation that cites its sources."""

    answer: str = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; Unknown if it cannot be told"
    )
    confidence: float = Field(ge=0, le=1, description="how sure you are that the answer is right")
    citations: list[int] = Field(description="the numbers of the passages that support the answer")
    explanation: str = Field(description="how the answer follows, citing source and page in brackets")


COMPRESS = Prompt(
    name="compress",
    task="Answer the question from the facts and passages alone, then explain it, citing sources and pages.",
    template="Facts:\n{facts}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Compressed,
)
