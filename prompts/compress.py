"""Answer from the facts and passages that the filter kept (Iterative RAG, step 4)."""

from pydantic import Field

from ramify.prompts.lenient import Citations, Paragraph, Said, Share, Span
from ramify.prompts.prompt import Prompt


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
)
