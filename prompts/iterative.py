"""Select the relevant passages and facts of a batch (Iterative RAG, step 3)."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import HOLLIN, OSKEL, TROUT, example, passage
from ramify.prompts.lenient_types import SENTENCE_CHARS, AtMost, Flag, Fraction, ModelReply, Numbers, Query, Texts
from ramify.prompts.prompt import Prompt

SOURCE = 120
"""Characters of a source's name."""


class Filtered(ModelReply):
    """The relevant passages of a batch and the facts in them."""

    relevant: Annotated[Numbers, AtMost(20)] = Field(description="numbers of the passages that help")
    facts: Annotated[Texts, AtMost(5, each=SENTENCE_CHARS)] = Field(description="new facts from them, a sentence each")
    is_sufficient: Flag = Field(description="true if these and the facts so far suffice")
    relevance: Fraction = Field(description="relevance of the best passage")
    suggested: Query = Field(default="", description="a query for what is still missing; empty if sufficient")


class FilteredSources(Filtered):
    """What was picked from a batch, and where else to look."""

    sources: Annotated[Texts, AtMost(3, each=SOURCE)] = Field(description="promising sources, as in the source attribute")


FILTER: Prompt[Filtered] = Prompt(
    name="filter",
    task="Pick from a batch of passages what helps to answer the question.",
    template="Facts so far:\n{facts}\n\nLooked for: {expected}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=FilteredSources,
    examples=(
        example(
            {
                "relevant": [2],
                "facts": ["Hollin Bridge was widened in 1904."],
                "is_sufficient": True,
                "relevance": 0.9,
                "suggested": "",
                "sources": ["bridges.pdf"],
            },
            facts=[],
            expected="a year",
            passages=[OSKEL, passage("Hollin Bridge", "It was widened in 1904.", "bridges.pdf:3")],
            question="When was Hollin Bridge widened?",
        ),
        example(
            {
                "relevant": [],
                "facts": [],
                "is_sufficient": False,
                "relevance": 0,
                "suggested": "Edda Rask born",
                "sources": [],
            },
            facts=["Edda Rask designed Hollin Bridge."],
            expected="a birthplace",
            passages=[TROUT],
            question=HOLLIN,
        ),
    ),
)
FILTER_RECORDS = replace(FILTER, reply=Filtered)
"""For sources with a single passage each, which cannot suggest further ones."""
