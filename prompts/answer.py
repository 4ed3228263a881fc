"""Answer one question from its passages (ToR-RAG partial answers, PruneRAG staged answers, naive and chain)."""

from pydantic import Field

from ramify.prompts.lenient_types import Citations, Said, Share, Span
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage


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
    template="Passages:\n{passages}\n\n{above}Question: {question}",
    reply=Answered,
    examples=(
        example(
            {"answer": "1904", "confidence": 0.98, "citations": [1]},
            passages=[passage("Hollin Bridge", "It opened in 1852 and was widened in 1904.")],
            question="When was Hollin Bridge widened?",
        ),
        example(
            {"answer": "Unknown", "confidence": 0.9, "citations": []},
            passages=[passage("Skerry Light", "It stands on Vane Head and is 63 metres tall.")],
            question="Who built Skerry Light?",
        ),
        example(
            {"answer": "No", "confidence": 0.96, "citations": [1, 2]},
            passages=[passage("Skerry Light", "It stands on Vane Head."), passage("Mirefell Light", "It stands on Crane Isle.")],
            question="Do Skerry Light and Mirefell Light stand in the same place?",
        ),
    ),
)
