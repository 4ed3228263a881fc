"""Extract the claims of a text about names (GraphRAG, covariates)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import example
from ramify.prompts.extract import BRIDGE, LINE_FORM, MAX_LINES, TEXT, TROUT
from ramify.prompts.lenient_types import SENTENCE_CHARS, SPAN_CHARS, AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt

LINE_TOKENS = 120
"""Tokens that a claim may take in a reply."""


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
    task=(
        "Find the claims that the text makes of the names below it. A claim says what somebody or something did, had or was, so that it can be "
        f"checked. {LINE_FORM} Where a date is not told, leave its part empty."
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
