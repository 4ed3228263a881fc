"""Split a question into two (ToR-RAG §4, PruneRAG's decomposition)."""

from pydantic import Field

from ramify.prompts.lenient import Flag, Said, Sentence
from ramify.prompts.prompt import Prompt, flat

INDEPENDENT = "Each must be answerable without the answer of the other."
DEPENDENT = (
    "Prefer two that can be answered without each other. Where the question is a bridge (the second cannot be asked before the first is "
    "answered), write {1} in the second question where the answer of the first belongs."
)
EXAMPLES = (
    'Example: "Which river is longer, the Po or the Ebro?" -> "How long is the Po?", "How long is the Ebro?"\n'
    'Example: "Who is the mother of the director of Ugetsu?" -> "Who is the director of Ugetsu?", "Who is the mother of {1}?"'
)


class Pair(Said):
    """Two sub-questions, or the verdict that the question is already simple."""

    simple: Flag = Field(description="true if the question is already simple and should not be split; then first and second are empty")
    first: Sentence = Field(default="", description="the first sub-question, self-contained")
    second: Sentence = Field(default="", description="the second sub-question, self-contained but for {1}")


DECOMPOSE = Prompt(
    name="decompose",
    task=(
        "Split the question into exactly two WH-questions (who, what, where, when, why, how, which) that together cover it and do not overlap. "
        "{dependent} Name every person, work and place in full: no pronouns, no 'this film'. A question about a single fact is simple."
    ),
    template="Pairs tried before and found weak:\n{rejected}\n{kept}\nQuestion: {question}",
    reply=Pair,
    phrases={"dependent": {True: f"{DEPENDENT}\n{EXAMPLES}\n", False: INDEPENDENT}},
)


def keeping(question: str, answer: str) -> str:
    """Ask to keep the better half of a weak pair, with its answer, and to replace the other alone."""
    return (
        f"Of the last pair, keep as the first sub-question, word for word: {flat(question)} -> {flat(answer)}\n"
        "Give as the second a better one in place of the other: ask for what is still missing.\n"
    )
