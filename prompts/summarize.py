"""Summarise the passages on an entity with regard to a question (PruneRAG's entity branches)."""

from pydantic import Field

from ramify.prompts.lenient_types import Citations, Paragraph, Said, Share
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage


class Summary(Said):
    """What the passages say of an entity."""

    answer: Paragraph = Field(
        description="one or two sentences with the facts that bear on the question; Unknown if the passages say nothing of it"
    )
    confidence: Share = Field(description="how well the passages support the summary")
    citations: Citations = Field(description="the numbers of the passages it rests on")


SUMMARIZE = Prompt(
    name="summarize",
    task="Summarise what the passages say of the entity that bears on the question. Use nothing but the passages.",
    template="Passages:\n{passages}\n\nEntity: {entity}\nQuestion: {question}",
    reply=Summary,
    examples=(
        example(
            {"answer": "Lantz Brothers built organs in Tarnholm and had them tuned by Ivo Brandt.", "confidence": 0.9, "citations": [1]},
            passages=[passage("Lantz Brothers", "The organ builders of Tarnholm had Ivo Brandt tune their organs until 1880.")],
            entity="Lantz Brothers",
            question="Who tuned the organ of Pellworth Chapel in 1871?",
        ),
        example(
            {"answer": "Unknown", "confidence": 0.9, "citations": []},
            passages=[passage("Oskel", "Trout live in the Oskel.")],
            entity="Skerry Light",
            question="Who built Skerry Light?",
        ),
    ),
)
