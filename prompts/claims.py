"""Extract the claims of a text about names (GraphRAG, covariates)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.extract import BRIDGE, LINES, MOST, TEXT, TROUT
from ramify.prompts.lenient_types import SENTENCE, SPAN, AtMost, Said, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example

LINE_TOKENS = 120
"""Tokens that a claim may take in a reply."""


class Claims(Said):
    """What the text claims of names, a line each."""

    claims: Annotated[Texts, AtMost(MOST, each=SENTENCE + SPAN)] = Field(
        description=(
            "a line for each claim: NAME | what it concerns, or NONE | type of claim | the claim in one sentence | start date | end date | "
            "the words of the text that say it, copied exactly"
        )
    )


CLAIMS = Prompt(
    name="claims",
    task=(
        "Find the claims that the text makes of the names below it. A claim says what somebody or something did, had or was, so that it can be "
        f"checked. {LINES} Where a date is not told, leave its part empty."
    ),
    template=TEXT + "\n\nNames: {names}",
    reply=Claims,
    examples=(
        example(
            {"claims": ["Hollin Bridge | NONE | opening | Hollin Bridge opened in 1852. | 1852 | | It opened in 1852."]},
            **BRIDGE,
            names="Hollin Bridge",
        ),
        example({"claims": []}, **TROUT, names="Oskel"),
    ),
)
