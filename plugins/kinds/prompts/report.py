"""Reports on communities (GraphRAG): merge the descriptions of a name, report on a community."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import NAME_CHARS, SENTENCE_CHARS, AtMost, Fraction, ModelReply, Paragraph, Text, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example


class Described(ModelReply):
    """What was said of something, in one go."""

    description: Paragraph = Field(description="all that was said, without repetition, in a few sentences")


DESCRIBE = Prompt(
    name="describe",
    purpose="Merge the descriptions of one name by several texts (GraphRAG, element summaries)",
    task="Join what several texts say of the same thing into one description, in their language. Where they contradict each other, say so.",
    template="What is said of {name}:\n{descriptions}",
    reply=Described,
    examples=(
        example(
            Described(description="Hollin Bridge spans the Oskel; it opened in 1852 and was widened in 1904."),
            name="Hollin Bridge",
            descriptions=["Hollin Bridge opened in 1852.", "Hollin Bridge spans the Oskel.", "It was widened in 1904."],
        ),
        example(
            Described(description="Skerry Light is a lighthouse; one text has it 63 metres tall, another 36."),
            name="Skerry Light",
            descriptions=["Skerry Light is 63 metres tall.", "The lighthouse is 36 metres tall."],
        ),
    ),
)


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
    purpose="Report on a community of connected names (GraphRAG, community summaries)",
    task=(
        "Report on a community of connected names: what they are, what connects them, what is worth knowing. The whole report has at most 300 "
        "words. Write in the language of the material and use nothing else; every finding names the numbers of the lines it rests on."
    ),
    template="Material:\n{material}",
    reply=Reported,
    examples=(
        example(
            Reported(
                title="Hollin Bridge and its designer",
                summary="Hollin Bridge over the Oskel and the people who made it.",
                importance=0.4,
                findings=["Ada Lantz designed Hollin Bridge, which opened in 1852. [1, 2]"],
            ),
            material=["Hollin Bridge: It opened in 1852.", "Ada Lantz – Hollin Bridge: Ada Lantz designed Hollin Bridge."],
        ),
        example(
            Reported(
                title="Skerry Light on Vane Head",
                summary="A lighthouse and the head it stands on.",
                importance=0.2,
                findings=["Skerry Light is 63 metres tall. [1]", "It stands on Vane Head. [2]"],
            ),
            material=["Skerry Light: Skerry Light is 63 metres tall.", "Skerry Light – Vane Head: Skerry Light stands on Vane Head."],
        ),
    ),
)
