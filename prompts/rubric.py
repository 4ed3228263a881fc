"""Judge a decomposition before anything is retrieved for it (ToR-RAG's decomposition judge)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.lenient import Points, Said, Sentence, word_of
from ramify.prompts.prompt import Prompt

Fitness = Literal["VALID", "INVALID"]
BRIDGE = "in the second, {1} may stand for the answer of the first; that is allowed"
SEPARATE = "they are independent: neither overlaps with the other nor presupposes its answer"


class Verdict(Said):
    """Whether a pair of sub-questions is fit for use, its score and why."""

    reasons: Sentence = Field(default="", description="one sentence on what is right or wrong with the pair")
    score: Points = Field(description="one point for each of the five criteria that is met")
    verdict: Annotated[Fitness, word_of(Fitness)] = Field(description="VALID if the pair can be used")


RUBRIC = Prompt(
    name="rubric",
    task=(
        "Score how well two sub-questions decompose a question, one point each: both are WH-questions; both are specific and measurable, answerable "
        "with facts and not with opinions; both are relevant to the question; {dependent}; together they are complete."
    ),
    template="Question: {question}\nFirst: {first}\nSecond: {second}",
    reply=Verdict,
    phrases={"dependent": {True: f"neither repeats the other ({BRIDGE})", False: SEPARATE}},
)
