"""Split a question into two (ToR-RAG §4), ask for what its passages leave open, or name entities to look up (PruneRAG)."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import NAME_CHARS, AtMost, Citations, EmbeddedText, Flag, ModelReply, Sentence, Texts
from ramify.prompts.prompt import Example, Prompt, bounded_line
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, TROUT, example, passage

INDEPENDENT = "Each must be answerable without the answer of the other."
DEPENDENT = "If a name must be found first, ask for it first, and write {1} for it in the second."


class Pair(ModelReply):
    """Two sub-questions, or the verdict that the question is already simple."""

    simple: Flag = Field(description="true if it should not be split; then first and second are empty")
    first: Sentence = Field(default="", description="the first sub-question, self-contained")
    second: Sentence = Field(default="", description="the second sub-question, self-contained but for {1}")
    together: EmbeddedText = ""


def split(question: str, thought: str, first: str, second: str, dependent: bool | None = None) -> Example:
    """Show how a question is split."""
    return example(Pair(simple=False, first=first, second=second), thought, dependent=dependent, question=question, rejected=[])


DECOMPOSE = Prompt(
    name="decompose",
    purpose="Split a question into two (ToR-RAG §4), or ask for what its passages leave open (PruneRAG's decomposition)",
    task=(
        "Split the question into exactly two WH-questions (who, what, where, when, why, how, which) that together cover it and do not overlap. "
        "{dependent} Name every person, work and place in full: no pronouns, no 'this film'. A question about a single fact is simple."
    ),
    template="Pairs tried before and found weak:\n{rejected}\n{kept}\nQuestion: {question}",
    plans=True,
    reply=Pair,
    phrases={"dependent": {True: DEPENDENT, False: INDEPENDENT}},
    thought="which facts the question asks for, and whether one has to be known first",
    examples=(
        split(HOLLIN, "The designer has to be known first.", "Who designed Hollin Bridge?", "Where was {1} born?", dependent=True),
        split(
            "Who designed Hollin Bridge, and when did it open?",
            "It asks for two facts, and neither needs the other.",
            "Who designed Hollin Bridge?",
            "When did Hollin Bridge open?",
            dependent=False,
        ),
        example(Pair(simple=True), thought="It asks for a single fact, the height.", question="How tall is Skerry Light?", rejected=[]),
        split(FIRST_OPENED, "Two opening years are compared.", "When did Hollin Bridge open?", "When did Vane Bridge open?"),
    ),
)


class Missing(Pair):
    """One or two sub-questions for what the passages leave open, or the verdict that none would help."""

    simple: Flag = Field(description="true if nothing is missing, or it asks for one fact")
    second: Sentence = Field(default="", description="a second one, self-contained but for {1}; empty if one is enough")
    citations: Citations = Field(description="the passages that tell a part of it")


DECOMPOSE_SEARCHED: Prompt[Pair] = replace(
    DECOMPOSE,
    task=(
        "Ask for what the passages leave open of the question, in one WH-question (who, what, where, when, why, how, which) or two that do not "
        "overlap; never for what a passage tells. {dependent} Name every person, work and place in full: no pronouns, no 'this film'. A question "
        "about a single fact is simple."
    ),
    template=f"Passages:\n{{passages}}\n\n{DECOMPOSE.template}",
    reply=Missing,
    thought="what the passages tell, and which facts are missing",
    examples=(
        example(
            Missing(simple=False, first="Where was Edda Rask born?", citations=[1]),
            thought="The designer is told; her birthplace is missing.",
            question=HOLLIN,
            rejected=[],
            passages=[passage("Hollin Bridge", "It was designed by Edda Rask.")],
        ),
        *(
            replace(shown, slots={**shown.slots, "passages": [TROUT]}, reply=Missing(**shown.reply.model_dump(), citations=[]))
            for shown in DECOMPOSE.examples
        ),
    ),
)
"""For a question that has been searched before it is split."""


def keeping(question: str, answer: str) -> str:
    """Ask to keep the better half of a weak pair, with its answer, and to replace the other alone."""
    return (
        f"Of the last pair, keep as the first sub-question, word for word: {bounded_line(question)} -> {bounded_line(answer)}\n"
        "Give as the second a better one in place of the other: ask for what is still missing.\n"
    )


class Entities(ModelReply):
    """One or two names to search verbatim; none if the question has none."""

    entities: Annotated[Texts, AtMost(2, each=NAME_CHARS)] = Field(
        description="one or two names, written as an article title would be; an empty list if there is none"
    )


ENTITIES = Prompt(
    name="entities",
    purpose="Name the entities to look up for a question that cannot be split (PruneRAG's fine-grained retrieval)",
    task=(
        "Name one or two entities (people, works, places, organisations, things) whose articles would help to answer the question. Take them from "
        "the question, or from the passages where they lead to the answer."
    ),
    template="Passages:\n{passages}\n\nQuestion: {question}",
    reply=Entities,
    examples=(
        example(
            Entities(entities=["Lantz Brothers"]),
            passages=[passage("Pellworth Chapel", "The chapel has an organ by Lantz Brothers.")],
            question="Who tuned the organ of Pellworth Chapel in 1871?",
        ),
        example(Entities(entities=[]), passages=[], question="Why is that so?"),
    ),
)
