"""Plan a wide search (Iterative RAG, step 1)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, example
from ramify.prompts.lenient_types import NAME_CHARS, QUERY_CHARS, AtMost, ModelReply, Sentence, Texts
from ramify.prompts.prompt import Prompt


class Plan(ModelReply):
    """What to search for, which words matter, and what a good passage would hold."""

    primary: Sentence = Field(default="", description="the one best search query for the question")
    sub_queries: Annotated[Texts, AtMost(4, each=QUERY_CHARS)] = Field(description="two to four further queries for its parts")
    keywords: Annotated[Texts, AtMost(8, each=NAME_CHARS)] = Field(description="names and terms that a relevant passage would contain")
    expected: Annotated[Texts, AtMost(5, each=NAME_CHARS)] = Field(description="the kinds of information that the answer needs")


PLAN = Prompt(
    name="plan",
    task="Plan how to search a document collection for everything that is needed to answer the question.",
    template="Question: {question}",
    reply=Plan,
    examples=(
        example(
            {
                "primary": "opening years of Hollin Bridge and Vane Bridge",
                "sub_queries": ["Hollin Bridge opened", "Vane Bridge opened"],
                "keywords": ["Hollin Bridge", "Vane Bridge", "opened"],
                "expected": ["two years"],
            },
            question=FIRST_OPENED,
        ),
        example(
            {
                "primary": "designer of Hollin Bridge birthplace",
                "sub_queries": ["who designed Hollin Bridge", "Hollin Bridge engineer born"],
                "keywords": ["Hollin Bridge", "designed", "born"],
                "expected": ["a person", "a birthplace"],
            },
            question=HOLLIN,
        ),
    ),
)
