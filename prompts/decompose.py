"""Split a question into two (ToR-RAG §4, PruneRAG's decomposition)."""

from dataclasses import replace

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, VALLEY, example
from ramify.prompts.lenient_types import EmbeddedText, Flag, ModelReply, Sentence
from ramify.prompts.prompt import Example, Prompt, bounded_line

INDEPENDENT = "Each must be answerable without the answer of the other."
DEPENDENT = "Prefer two that do not need each other; where the second needs the answer of the first, write {1} in its place."


class Pair(ModelReply):
    """Two sub-questions, or the verdict that the question is already simple."""

    simple: Flag = Field(description="true if it should not be split; then first and second are empty")
    first: Sentence = Field(default="", description="the first sub-question, self-contained")
    second: Sentence = Field(default="", description="the second sub-question, self-contained but for {1}")
    together: EmbeddedText = ""


def split(question: str, thought: str, first: str, second: str, dependent: bool | None = None) -> Example:
    """Show how a question is split."""
    reply = {"thought": thought, "simple": False, "first": first, "second": second}
    return example(reply, dependent, question=question, rejected=[], passages=[VALLEY])


DECOMPOSE = Prompt(
    name="decompose",
    task=(
        "Split the question into exactly two WH-questions (who, what, where, when, why, how, which) that together cover it and do not overlap. "
        "{dependent} Name every person, work and place in full: no pronouns, no 'this film'. A question about a single fact is simple."
    ),
    template="Pairs tried before and found weak:\n{rejected}\n{kept}\nQuestion: {question}",
    reply=Pair,
    phrases={"dependent": {True: DEPENDENT, False: INDEPENDENT}},
    thought="which facts the question asks for, and whether one has to be known first",
    examples=(
        split(
            HOLLIN,
            "The designer has to be known first.",
            "Who designed Hollin Bridge?",
            "Where was {1} born?",
            dependent=True,
        ),
        split(
            "Who designed Hollin Bridge, and when did it open?",
            "It asks for two facts, and neither needs the other.",
            "Who designed Hollin Bridge?",
            "When did Hollin Bridge open?",
            dependent=False,
        ),
        example(
            {"thought": "It asks for a single fact, the height.", "simple": True, "first": "", "second": ""},
            question="How tall is Skerry Light?",
            rejected=[],
            passages=[],
        ),
        split(
            FIRST_OPENED,
            "Two opening years are compared.",
            "When did Hollin Bridge open?",
            "When did Vane Bridge open?",
        ),
    ),
)

DECOMPOSE_SEARCHED = replace(
    DECOMPOSE,
    task=f"{DECOMPOSE.task} The passages are what was found for the question: ask for what they leave open, by the names that they tell.",
    template=f"Passages:\n{{passages}}\n\n{DECOMPOSE.template}",
)
"""For a question that has been searched before it is split (PruneRAG, staged)."""


def keeping(question: str, answer: str) -> str:
    """Ask to keep the better half of a weak pair, with its answer, and to replace the other alone."""
    return (
        f"Of the last pair, keep as the first sub-question, word for word: {bounded_line(question)} -> {bounded_line(answer)}\n"
        "Give as the second a better one in place of the other: ask for what is still missing.\n"
    )
