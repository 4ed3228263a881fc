"""Prompts of Iterative RAG: plan a wide search, filter a batch of passages, answer from what was kept."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import (
    NAME_CHARS,
    QUERY_CHARS,
    SENTENCE_CHARS,
    AtMost,
    Citations,
    Flag,
    Fraction,
    ModelReply,
    Numbers,
    Paragraph,
    Query,
    Sentence,
    ShortAnswer,
    Texts,
)
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, OSKEL, TROUT, example, passage

MAX_SUB_QUERIES = 8
"""Maximum number of queries of a plan beside the primary one."""


class Plan(ModelReply):
    """What to search for, which words matter, and what a good passage would hold."""

    primary: Sentence = Field(default="", description="the one best search query for the question")
    sub_queries: Annotated[Texts, AtMost(MAX_SUB_QUERIES, each=QUERY_CHARS)] = Field(description="a further query for each of its parts")
    keywords: Annotated[Texts, AtMost(8, each=NAME_CHARS)] = Field(description="names and terms that a relevant passage would contain")
    expected: Annotated[Texts, AtMost(5, each=NAME_CHARS)] = Field(description="the kinds of information that the answer needs")


PLAN = Prompt(
    name="plan",
    purpose="Plan a wide search (Iterative RAG, step 1)",
    task="Plan how to search a document collection for everything that is needed to answer the question.",
    template="Question: {question}",
    plans=True,
    reply=Plan,
    examples=(
        example(
            Plan(
                primary="opening years of Hollin Bridge and Vane Bridge",
                sub_queries=["Hollin Bridge opened", "Vane Bridge opened"],
                keywords=["Hollin Bridge", "Vane Bridge", "opened"],
                expected=["two years"],
            ),
            question=FIRST_OPENED,
        ),
        example(
            Plan(
                primary="designer of Hollin Bridge birthplace",
                sub_queries=["who designed Hollin Bridge", "Hollin Bridge engineer born"],
                keywords=["Hollin Bridge", "designed", "born"],
                expected=["a person", "a birthplace"],
            ),
            question=HOLLIN,
        ),
    ),
)


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
    purpose="Select the relevant passages and facts of a batch (Iterative RAG, step 3)",
    task="Pick from the passages what helps to answer the question.",
    template="Passages:\n{passages}\n\nFacts so far:\n{facts}\n\nLooked for: {expected}\n\nQuestion: {question}",
    reply=FilteredSources,
    sources=True,
    examples=(
        example(
            FilteredSources(
                relevant=[2], facts=["Hollin Bridge was widened in 1904."], is_sufficient=True, relevance=0.9, sources=["bridges.pdf:3"]
            ),
            facts=[],
            expected="a year",
            passages=[OSKEL, passage("Hollin Bridge", "It was widened in 1904.", "bridges.pdf:3")],
            question="When was Hollin Bridge widened?",
        ),
        example(
            FilteredSources(relevant=[], facts=[], is_sufficient=False, relevance=0, suggested="Edda Rask born", sources=[]),
            facts=["Edda Rask designed Hollin Bridge."],
            expected="a birthplace",
            passages=[TROUT],
            question=HOLLIN,
        ),
    ),
)
FILTER_RECORDS = replace(FILTER, reply=Filtered, sources=False)
"""For sources with a single passage each, which cannot suggest further ones."""


class Compressed(ModelReply):
    """A short answer and the explanation that cites its sources."""

    answer: ShortAnswer = Field(description="Yes or No, a number, a date, a name or a short phrase, or Unknown")
    confidence: Fraction = Field(description="how sure you are of it")
    citations: Citations = Field(description="the numbers of the passages that support it")
    explanation: Paragraph = Field(default="", description="how the answer follows, in one sentence")


COMPRESS = Prompt(
    name="compress",
    purpose="Answer from the facts and passages that the filter kept (Iterative RAG, step 4)",
    task="Answer the question from the facts and passages alone. Facts were noted while reading and may be wrong.",
    template="Passages:\n{passages}\n\nFacts:\n{facts}\n\nQuestion: {question}",
    reply=Compressed,
    thought="what they come to, and what is missing",
    concludes=True,
    examples=(
        example(
            Compressed(answer="Vane Bridge", confidence=0.96, citations=[1, 3], explanation="Of 1847 and 1852, the first is earlier."),
            thought="1847 is before 1852.",
            written="Vane Bridge opened in 1847 [3], Hollin Bridge in 1852 [1].",
            facts=["Hollin Bridge opened in 1852.", "Vane Bridge opened in 1847."],
            passages=[
                passage("Hollin Bridge", "It opened in 1852.", "bridges.pdf:3"),
                OSKEL,
                passage("Vane Bridge", "It opened in 1847.", "bridges.pdf:4"),
            ],
            question=FIRST_OPENED,
        ),
    ),
)
