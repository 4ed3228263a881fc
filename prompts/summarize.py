"""Summarise passages: on an entity (PruneRAG), from a search (condense, Search-o1), of a cluster of a hierarchy (RAPTOR)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE_CHARS, AtMost, Citations, Fraction, ModelReply, Paragraph, Texts
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


MAX_SENTENCES = 5
CABLES = [
    "Check the tension of the rudder cable every 50 hours. A cable with a broken strand is replaced.",
    "The aileron cable is checked for wear at its pulleys. Wear of more than 2 mm calls for a new cable.",
]
CABLE_SUMMARY = [
    "Rudder and aileron cables are checked for tension and wear.",
    "A broken strand or more than 2 mm of wear calls for a new cable.",
]
MOORING = ["Tie the bow line first, then the stern line.", "In winds above 25 knots a spring line is added."]
MOORING_SUMMARY = ["The bow line is tied before the stern line.", "Winds above 25 knots call for a spring line."]


class Summarized(ModelReply):
    """A summary, sentence by sentence."""

    sentences: Annotated[Texts, AtMost(MAX_SENTENCES, each=SENTENCE_CHARS)] = Field(
        description="three to five sentences, each of which the passages say: what they have in common, and what matters in each"
    )


SUMMARIZE_CLUSTER = Prompt(
    name="summarize_cluster",
    purpose="Summarise a cluster of passages of one group (RAPTOR, Sarthi et al. 2024, §3; meta-guided RAG §4)",
    task=(
        "Sum up passages that belong together, in three to five sentences and in their language. Keep names, numbers, limits and steps as they "
        "are written. Say nothing that the passages do not say."
    ),
    template="Passages of {group}:\n{material}",
    reply=Summarized,
    examples=(
        example(Summarized(sentences=CABLE_SUMMARY), group="Control cables", material=CABLES),
        example(Summarized(sentences=MOORING_SUMMARY), group="Mooring", material=MOORING),
    ),
)


SUPPORT = Prompt(
    name="support",
    purpose="Ask for a summary again, with its unsupported sentences (meta-guided RAG §5: summary_support)",
    task=(
        "Some sentences of a summary say what its passages do not. Write the summary again, three to five sentences in the passages' language: "
        "leave those sentences out, or put them right. Every name and every number is in the passages."
    ),
    template="Passages of {group}:\n{material}\n\nWhat they do not say:\n{unsupported}",
    reply=Summarized,
    examples=(
        example(
            Summarized(sentences=CABLE_SUMMARY),
            group="Control cables",
            material=CABLES,
            unsupported=["Cables are replaced every 500 hours."],
        ),
        example(Summarized(sentences=MOORING_SUMMARY), group="Mooring", material=MOORING, unsupported=["Boats are moored by two people."]),
    ),
)
