"""Plan a wide search (Iterative RAG, step 1)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient import NAME, QUERY, AtMost, Said, Sentence, Texts
from ramify.prompts.prompt import Prompt


class Plan(Said):
    """What to search for, which words matter, and what a good passage would hold."""

    primary: Sentence = Field(default="", description="the one best search query for the question")
    sub_queries: Annotated[Texts, AtMost(4, each=QUERY)] = Field(description="two to four further queries for its parts")
    keywords: Annotated[Texts, AtMost(8, each=NAME)] = Field(description="names and terms that a relevant passage would contain")
    expected: Annotated[Texts, AtMost(5, each=NAME)] = Field(description="the kinds of information that the answer needs")


PLAN = Prompt(
    name="plan",
    task="Plan how to search a document collection for everything that is needed to answer the question.",
    template="Question: {question}",
    reply=Plan,
)
