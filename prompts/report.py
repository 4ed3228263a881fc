"""Report on a community of connected names (GraphRAG, community summaries)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import example
from ramify.prompts.lenient_types import NAME_CHARS, SENTENCE_CHARS, AtMost, Fraction, ModelReply, Paragraph, Text, Texts
from ramify.prompts.prompt import Prompt

MAX_FINDINGS = 5
RATING = 10


class Reported(ModelReply):
    """A report on a community."""

    title: Annotated[Text, AtMost(NAME_CHARS)] = Field(description="a short title with the most important names")
    summary: Paragraph = Field(description="two or three sentences: what holds these names together")
    importance: Fraction = Field(description="how much it matters for the whole collection, 0 to 1")
    findings: Annotated[Texts, AtMost(MAX_FINDINGS, each=SENTENCE_CHARS)] = Field(
        description="what is worth knowing, one sentence each, with the numbers of the lines it rests on in brackets, such as [2, 5]"
    )


REPORT = Prompt(
    name="report",
    task=(
        "Report on a community of connected names: what they are, what connects them, what is worth knowing. The whole report has at most 300 "
        "words. Write in the language of the material and use nothing else; every finding names the numbers of the lines it rests on."
    ),
    template="Material:\n{material}",
    reply=Reported,
    examples=(
        example(
            {
                "title": "Hollin Bridge and its designer",
                "summary": "Hollin Bridge over the Oskel and the people who made it.",
                "importance": 0.4,
                "findings": ["Ada Lantz designed Hollin Bridge, which opened in 1852. [1, 2]"],
            },
            material=["Hollin Bridge: It opened in 1852.", "Ada Lantz – Hollin Bridge: Ada Lantz designed Hollin Bridge."],
        ),
        example(
            {
                "title": "Skerry Light on Vane Head",
                "summary": "A lighthouse and the head it stands on.",
                "importance": 0.2,
                "findings": ["Skerry Light is 63 metres tall. [1]", "It stands on Vane Head. [2]"],
            },
            material=["Skerry Light: Skerry Light is 63 metres tall.", "Skerry Light – Vane Head: Skerry Light stands on Vane Head."],
        ),
    ),
)
