"""Summarise a cluster of a hierarchy (RAPTOR); again without what its passages do not say."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE_CHARS, AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

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
