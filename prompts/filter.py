"""Pick what is relevant from a batch of passages (Iterative RAG, step 3)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import SENTENCE, AtMost, Flag, Numbers, Query, Said, Share, Texts
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import example, passage

SOURCE = 120
"""Characters of a source's name."""


class Filtered(Said):
    """The relevant passages of a batch, the facts in them, and where to look next."""

    relevant: Annotated[Numbers, AtMost(20)] = Field(description="the numbers of the passages that help; an empty list if none does")
    facts: Annotated[Texts, AtMost(5, each=SENTENCE)] = Field(
        description="at most five new facts from these passages that help to answer, one short sentence each"
    )
    files: Annotated[Texts, AtMost(3, each=SOURCE)] = Field(
        description="at most three sources that look promising, as written in the source attribute"
    )
    pages: Annotated[Texts, AtMost(3, each=SOURCE)] = Field(
        description="at most three promising pages, as written in the source attribute: source:page"
    )
    is_sufficient: Flag = Field(description="true if the facts so far and these suffice to answer")
    relevance: Share = Field(description="how relevant this batch was as a whole")
    suggested: Query = Field(default="", description="a better search query if this batch was poor; otherwise empty")


FILTER = Prompt(
    name="filter",
    task="Read a batch of passages and pick what helps to answer the question.",
    template="Facts so far:\n{facts}\n\nLooked for: {expected}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Filtered,
    examples=(
        example(
            {
                "relevant": [1],
                "facts": ["Hollin Bridge was widened in 1904."],
                "files": ["bridges.pdf"],
                "pages": ["bridges.pdf:3"],
                "is_sufficient": True,
                "relevance": 0.8,
                "suggested": "",
            },
            facts=[],
            expected="a year",
            passages=[
                passage("Hollin Bridge", "It was widened in 1904.", "bridges.pdf:3"),
                passage("Oskel", "Trout live in the Oskel.", "fish.txt"),
            ],
            question="When was Hollin Bridge widened?",
        ),
        example(
            {
                "relevant": [],
                "facts": [],
                "files": [],
                "pages": [],
                "is_sufficient": False,
                "relevance": 0,
                "suggested": "Skerry Light builder",
            },
            facts=[],
            expected="a name",
            passages=[passage("Oskel", "Trout live in the Oskel.", "fish.txt")],
            question="Who built Skerry Light?",
        ),
    ),
)
