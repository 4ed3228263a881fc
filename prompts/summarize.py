"""Summarise what the passages say of an entity, with a question in mind (PruneRAG's entity branches)."""

from pydantic import Field

from ramify.prompts.lenient import Citations, Paragraph, Said, Share
from ramify.prompts.prompt import Prompt


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
)
