"""Extract the names in a text and their relations (GraphRAG, element extraction)."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Any

from pydantic import Field, create_model

from ramify.prompts.lenient_types import AtMost, Said, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

BAR = "|"
MOST, LONGEST = 10, 120
"""Lines of each list, and characters of a line."""
LINES = "Each line has its parts between bars, in the order told."
EACH = "Write names as the text does, each on a line of its own: a band and its singer are two."


class Extracted(Said):
    """Names and connections, a line each."""

    entities: Annotated[Texts, AtMost(MOST, each=LONGEST)] = Field(
        description="a line for each name in the text: NAME | type | what the text says of it, in one short sentence"
    )
    relations: Annotated[Texts, AtMost(MOST, each=LONGEST)] = Field(
        description="a line for each pair of these names that is clearly related: NAME | NAME | how, in one short sentence | strength 1 to 10"
    )


_EACH = 60
"""Tokens of text that have a line's worth of names: so many more lines may a longer text bring."""


def lines_for(tokens: int, each: int = _EACH) -> int:
    """Return how many lines each list of a reply may have where a line takes so many tokens of them."""
    return max(MOST, tokens // each)


def with_lines(prompt: Prompt[Any], lines: int) -> Prompt[Any]:
    """Return a prompt whose reply may have so many lines in each list."""
    reply: type[Said] = prompt.reply
    return prompt if lines == MOST else replace(prompt, reply=_wider(reply, lines))


@cache
def _wider(reply: type[Said], lines: int) -> Any:
    fields: dict[str, Any] = {}
    for name, field in reply.model_fields.items():
        [bound] = (one for one in field.metadata if isinstance(one, AtMost))
        fields[name] = (Annotated[Texts, AtMost(lines, each=bound.each)], Field(description=field.description))
    return create_model(reply.__name__, __base__=Said, __doc__=reply.__doc__, **fields)


TEXT = "Text from {title}:\n<passage>\n{text}\n</passage>"
BRIDGE: dict[str, Any] = {"title": "bridges.txt", "text": "Hollin Bridge, designed by Ada Lantz, spans the river Oskel. It opened in 1852."}
TROUT: dict[str, Any] = {"title": "trout.txt", "text": "Trout like cold water that runs fast, and feed in the evening."}
KINDS: dict[str, Any] = {"kinds": "person, place"}
NAMES = ["Hollin Bridge | place | A bridge over the Oskel that opened in 1852.", "Ada Lantz | person | She designed Hollin Bridge."]
MADE = "Ada Lantz | Hollin Bridge | Ada Lantz designed Hollin Bridge. | 9"
SPANS = "Hollin Bridge | Oskel | Hollin Bridge spans the Oskel. | 7"
RIVER = "Oskel | place | A river spanned by Hollin Bridge."
NOTHING: dict[str, list[str]] = {"entities": [], "relations": []}
EXTRACT = Prompt(
    name="extract",
    task=(
        "Find all names in the text that are of these types: {kinds}; where there are more than fit, the most important. Then find all pairs of "
        f"them that the text clearly relates. {EACH} Write descriptions in the language of the text. {LINES} Use nothing but the text."
    ),
    template=TEXT,
    reply=Extracted,
    examples=(
        example({"entities": [*NAMES, RIVER], "relations": [MADE, SPANS]}, **KINDS, **BRIDGE),
        example(NOTHING, **KINDS, **TROUT),
    ),
)
