"""Extract the names in a text and their relations, those that were missed (glean), and claims about them (GraphRAG)."""

from typing import Annotated, Any

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE_CHARS, SPAN_CHARS, AtMost, ModelReply, Texts, line_tokens, reply_bounds
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

BAR = "|"
MAX_LINES, MAX_LINE_CHARS = 10, 120
"""Lines of each list for a short text, and characters of a line."""
LINE_FORM = "Each line has its parts between bars, in the order told."
ONE_NAME_A_LINE = "Write names as the text does, each on a line of its own: a band and its singer are two."


class Extracted(ModelReply):
    """Names and connections, a line each."""

    entities: Annotated[Texts, AtMost(MAX_LINES, each=MAX_LINE_CHARS)] = Field(
        description="a line for each name in the text: NAME | type | what the text says of it, in one short sentence"
    )
    relations: Annotated[Texts, AtMost(MAX_LINES, each=MAX_LINE_CHARS)] = Field(
        description="a line for each pair of these names that is clearly related: NAME | NAME | how, in one short sentence"
    )


_TOKENS_PER_LINE = 20
"""Tokens of text for one line of a list. The paper's graph of podcasts has 12.4 relations for each unit of 600 tokens, without repetitions."""


def max_lines(tokens: int) -> int:
    """Return how many lines each list of a reply may have, for a text of so many tokens."""
    return max(MAX_LINES, tokens // _TOKENS_PER_LINE)


def with_lines(prompt: Prompt[Any], unit_tokens: int, num_predict: int) -> Prompt[Any]:
    """Return a prompt whose lists may be as long as its text is, as far as a reply of `num_predict` tokens has room for full lines."""
    bounds = reply_bounds(prompt.reply)
    room = num_predict // sum(line_tokens(bound.each or bound.most) for bound in bounds.values())
    return prompt.with_bounds(**dict.fromkeys(bounds, max(1, min(room, max_lines(unit_tokens)))))


TEXT = "Text from {title}:\n<passage>\n{text}\n</passage>"
BRIDGE: dict[str, Any] = {"title": "bridges.txt", "text": "Hollin Bridge, designed by Ada Lantz, spans the river Oskel. It opened in 1852."}
TROUT: dict[str, Any] = {"title": "trout.txt", "text": "Trout like cold water that runs fast, and feed in the evening."}
EXAMPLE_TYPES: dict[str, Any] = {"kinds": "person, place"}
NAMES = ["Hollin Bridge | place | A bridge over the Oskel that opened in 1852.", "Ada Lantz | person | She designed Hollin Bridge."]
MADE = "Ada Lantz | Hollin Bridge | Ada Lantz designed Hollin Bridge."
SPANS = "Hollin Bridge | Oskel | Hollin Bridge spans the Oskel."
RIVER = "Oskel | place | A river spanned by Hollin Bridge."
FOUND = ["Hollin Bridge", "Ada Lantz", "Ada Lantz | Hollin Bridge"]
NOTHING = Extracted(entities=[], relations=[])
EXTRACT = Prompt(
    name="extract",
    purpose="Extract the names in a text and their relations (GraphRAG, element extraction)",
    task=(
        "Find all names in the text that are of these types: {kinds}; where there are more than fit, the most important. Then find all pairs of "
        f"them that the text clearly relates. {ONE_NAME_A_LINE} Write descriptions in the language of the text. {LINE_FORM} Use nothing but the text."
    ),
    template=TEXT,
    reply=Extracted,
    examples=(
        example(Extracted(entities=[*NAMES, RIVER], relations=[MADE, SPANS]), **EXAMPLE_TYPES, **BRIDGE),
        example(NOTHING, **EXAMPLE_TYPES, **TROUT),
    ),
)


GLEAN = Prompt(
    name="glean",
    purpose="Extract the names in a text that were missed, if any (GraphRAG, gleaning)",
    task=(
        "Names of these types were listed from the text: {kinds}; MANY are missing. Give those, and missing relations, or empty lists. "
        f"{ONE_NAME_A_LINE} Describe in the text's language. {LINE_FORM}"
    ),
    template=TEXT + "\n\nFound already:\n{found}",
    reply=Extracted,
    examples=(
        example(Extracted(entities=[RIVER], relations=[SPANS]), **EXAMPLE_TYPES, **BRIDGE, found=FOUND),
        example(NOTHING, **EXAMPLE_TYPES, **BRIDGE, found=[*FOUND, "Oskel", "Hollin Bridge | Oskel"]),
        example(NOTHING, **EXAMPLE_TYPES, **TROUT, found=[]),
    ),
)


class Claims(ModelReply):
    """What the text claims of names, a line each."""

    claims: Annotated[Texts, AtMost(MAX_LINES, each=SENTENCE_CHARS + SPAN_CHARS)] = Field(
        description=(
            "a line for each claim: NAME | what it concerns, or NONE | type of claim | the claim in one sentence | start date | end date | "
            "the words of the text that say it, copied exactly"
        )
    )


CLAIMS = Prompt(
    name="claims",
    purpose="Extract the claims of a text about names (GraphRAG, covariates)",
    task=(
        "Find the claims that the text makes of the names below it. A claim says what somebody or something did, had or was, so that it can be "
        f"checked. {LINE_FORM} Where a date is not told, leave its part empty."
    ),
    template=TEXT + "\n\nNames: {names}",
    reply=Claims,
    examples=(
        example(
            Claims(claims=["Hollin Bridge | NONE | opening | Hollin Bridge opened in 1852. | 1852 | | It opened in 1852."]),
            **BRIDGE,
            names="Hollin Bridge",
        ),
        example(Claims(claims=[]), **TROUT, names="Oskel"),
    ),
)
