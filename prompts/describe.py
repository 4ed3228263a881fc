"""Merge the descriptions of one name by several texts (GraphRAG, element summaries)."""

from pydantic import Field

from ramify.prompts.lenient_types import Paragraph, Said
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example


class Described(Said):
    """What was said of something, in one go."""

    description: Paragraph = Field(description="all that was said, without repetition, in a few sentences")


DESCRIBE = Prompt(
    name="describe",
    task="Join what several texts say of the same thing into one description, in their language. Where they contradict each other, say so.",
    template="What is said of {name}:\n{told}",
    reply=Described,
    examples=(
        example(
            {"description": "Hollin Bridge spans the Oskel; it opened in 1852 and was widened in 1904."},
            name="Hollin Bridge",
            told=["Hollin Bridge opened in 1852.", "Hollin Bridge spans the Oskel.", "It was widened in 1904."],
        ),
        example(
            {"description": "Skerry Light is a lighthouse; one text has it 63 metres tall, another 36."},
            name="Skerry Light",
            told=["Skerry Light is 63 metres tall.", "The lighthouse is 36 metres tall."],
        ),
    ),
)
