"""Summarise passages: on an entity (PruneRAG), from a search (condense, Search-o1)."""

from pydantic import Field

from ramify.prompts.lenient_types import Citations, Fraction, ModelReply, Paragraph
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import HOLLIN, OSKEL, example, finding, passage


class EntitySummary(ModelReply):
    """What the passages say of an entity."""

    answer: Paragraph = Field(
        description="one or two sentences with the facts that bear on the question; Unknown if the passages say nothing of it"
    )
    confidence: Fraction = Field(description="how well the passages support the summary")
    citations: Citations = Field(description="the numbers of the passages it rests on")


SUMMARIZE = Prompt(
    name="summarize",
    purpose="Summarise the passages on an entity with regard to a question (PruneRAG's entity branches)",
    task="Summarise what the passages say of the entity that bears on the question. Use nothing but the passages.",
    template="Passages:\n{passages}\n\nEntity: {entity}\nQuestion: {question}",
    reply=EntitySummary,
    examples=(
        example(
            EntitySummary(
                answer="Lantz Brothers built organs in Tarnholm and had them tuned by Ivo Brandt.", confidence=0.9, citations=[1]
            ),
            passages=[passage("Lantz Brothers", "The organ builders of Tarnholm had Ivo Brandt tune their organs until 1880.")],
            entity="Lantz Brothers",
            question="Who tuned the organ of Pellworth Chapel in 1871?",
        ),
        example(
            EntitySummary(answer="Unknown", confidence=0.9, citations=[]),
            passages=[passage("Oskel", "Trout live in the Oskel.")],
            entity="Skerry Light",
            question="Who built Skerry Light?",
        ),
    ),
)


CONDENSE = Prompt(
    name="condense",
    purpose="Condense what a search found (reason-in-documents, Search-o1)",
    task=(
        "Read the passages that a search found and say what they give for the main question beyond what is known: the facts alone, names and "
        "dates as written. Use nothing but the passages. If they give nothing, say Unknown."
    ),
    template="Passages:\n{passages}\n\nKnown so far:\n{history}\n\nSearched: {query}\nMain question: {question}",
    reply=EntitySummary,
    examples=(
        example(
            EntitySummary(answer="Edda Rask, who designed Hollin Bridge, was born in Tarnholm.", confidence=0.95, citations=[2]),
            passages=[OSKEL, passage("Edda Rask", "The engineer was born in Tarnholm and trained at Vane.")],
            history=[finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97)],
            query="Edda Rask birthplace",
            question=HOLLIN,
        ),
        example(
            EntitySummary(answer="Unknown", confidence=0.9, citations=[]),
            passages=[passage("Vane", "Trout live in the Oskel near Vane.")],
            history=[],
            query="Hollin Bridge designer",
            question=HOLLIN,
        ),
    ),
)
