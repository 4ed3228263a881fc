"""Summarise a cluster of passages of one group (RAPTOR, Sarthi et al. 2024, §3; meta-guided RAG §4)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE, AtMost, Said, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

MOST = 5
PASSAGES = [
    "Check the tension of the rudder cable every 50 hours. A cable with a broken strand is replaced.",
    "The aileron cable is checked for wear at its pulleys. Wear of more than 2 mm calls for a new cable.",
]
SAID = ["Rudder and aileron cables are checked for tension and wear.", "A broken strand or more than 2 mm of wear calls for a new cable."]
MOORING = ["Tie the bow line first, then the stern line.", "In winds above 25 knots a spring line is added."]
TIED = ["The bow line is tied before the stern line.", "Winds above 25 knots call for a spring line."]


class Summarized(Said):
    """A summary, sentence by sentence."""

    sentences: Annotated[Texts, AtMost(MOST, each=SENTENCE)] = Field(
        description="three to five sentences, each of which the passages say: what they have in common, and what matters in each"
    )


SUMMARIZE_CLUSTER = Prompt(
    name="summarize_cluster",
    task=(
        "Sum up passages that belong together, in three to five sentences and in their language. Keep names, numbers, limits and steps as they "
        "are written. Say nothing that the passages do not say."
    ),
    template="Passages of {group}:\n{material}",
    reply=Summarized,
    examples=(
        example({"sentences": SAID}, group="Control cables", material=PASSAGES),
        example({"sentences": TIED}, group="Mooring", material=MOORING),
    ),
)
