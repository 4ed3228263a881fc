"""Ask for a summary again, with its unsupported sentences (meta-guided RAG §5: summary_support)."""

from ramify.prompts.prompt import Prompt
from ramify.prompts.summarize_cluster import MOORING, PASSAGES, SAID, TIED, Summarized
from ramify.prompts.worked_examples import example

SUPPORT = Prompt(
    name="support",
    task=(
        "Some sentences of a summary say what its passages do not. Write the summary again, three to five sentences in the passages' language: "
        "leave those sentences out, or put them right. Every name and every number is in the passages."
    ),
    template="Passages of {group}:\n{material}\n\nWhat they do not say:\n{unsupported}",
    reply=Summarized,
    examples=(
        example({"sentences": SAID}, group="Control cables", material=PASSAGES, unsupported=["Cables are replaced every 500 hours."]),
        example({"sentences": TIED}, group="Mooring", material=MOORING, unsupported=["Boats are moored by two people."]),
    ),
)
