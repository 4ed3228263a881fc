"""Judge a decomposition before searching for its sub-questions (ToR-RAG's decomposition judge)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, example
from ramify.prompts.lenient_types import ModelReply, Score, Sentence, one_of_words
from ramify.prompts.prompt import Prompt

Fitness = Literal["VALID", "INVALID"]
BRIDGE = "in the second, {1} may stand for the answer of the first; that is allowed"
SEPARATE = "they are independent: neither overlaps with the other nor presupposes its answer"


class Verdict(ModelReply):
    """Whether a pair of sub-questions is fit for use, its score and why."""

    reasons: Sentence = Field(default="", description="one sentence on what is right or wrong with the pair")
    score: Score = Field(description="one point for each of the five criteria that is met")
    verdict: Annotated[Fitness, one_of_words(Fitness)] = Field(description="VALID if the pair can be used")


RUBRIC = Prompt(
    name="rubric",
    task=(
        "Score how well two sub-questions decompose a question, one point each: both are WH-questions; both are specific and measurable, answerable "
        "with facts and not with opinions; both are relevant to the question; {dependent}; together they are complete."
    ),
    template="Question: {question}\nFirst: {first}\nSecond: {second}",
    reply=Verdict,
    examples=(
        example(
            {"reasons": "The second builds on the first, and both together give the birthplace.", "score": 5, "verdict": "VALID"},
            dependent=True,
            question=HOLLIN,
            first="Who designed Hollin Bridge?",
            second="Where was {1} born?",
        ),
        example(
            {"reasons": "Each asks for one of the two years that are compared.", "score": 5, "verdict": "VALID"},
            dependent=False,
            question=FIRST_OPENED,
            first="When did Hollin Bridge open?",
            second="When did Vane Bridge open?",
        ),
        example(
            {"reasons": "The second asks for an opinion, and Mirefell Light is left out.", "score": 2, "verdict": "INVALID"},
            question="Which is taller, Skerry Light or Mirefell Light?",
            first="How tall is Skerry Light?",
            second="Is Skerry Light beautiful?",
        ),
    ),
    phrases={"dependent": {True: f"neither repeats the other ({BRIDGE})", False: SEPARATE}},
)
