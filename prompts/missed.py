"""Say whether all names of a text were found (GraphRAG, gleaning)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.extract import BRIDGE, KINDS, MADE, NAMES, RIVER, SPANS, TEXT
from ramify.prompts.lenient_types import Said, word_of
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

Verdict = Literal["YES", "NO"]


class Complete(Said):
    """Whether everything was found."""

    complete: Annotated[Verdict, word_of(Verdict)] = Field(description="YES if all names and relations were found, NO if some were missed")


MISSED = Prompt(
    name="missed",
    task="Somebody listed the names of these types in the text: {kinds}. Say whether all of them, and all their relations, were found.",
    template=TEXT + "\n\nFound:\n{found}",
    reply=Complete,
    examples=(
        example({"complete": "NO"}, **KINDS, **BRIDGE, found=NAMES),
        example({"complete": "YES"}, **KINDS, **BRIDGE, found=[*NAMES, RIVER, MADE, SPANS]),
    ),
)
