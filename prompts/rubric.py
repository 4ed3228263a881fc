"""Judge a decomposition before anything is retrieved for it (ToR-RAG's decomposition judge)."""

from typing import Literal

from pydantic import BaseModel, Field

from ramify.prompts.prompt import Prompt


class Verdict(BaseModel):
    """Whether a pair of sub-questions is fit for use, its score and why."""

    reasons: str = Field(description="one sentence on what is right or wrong with the pair")
    score: float = Field(ge=0, le=5, description="one point for each of the five criteria that is met")
    verdict: Literal["VALID", "INVALID"] = Field(description="VALID if the pair can be used")


RUBRIC = Prompt(
    name="rubric",
    task=(
        "Score how well two sub-questions decompose a question, one point each: both are WH-questions; both are specific and measurable; both are "
        "relevant to the question; neither repeats the other; together they are complete. In the second, {1} stands for the answer of the first; "
        "that is allowed."
    ),
    template="Question: {question}\nFirst: {first}\nSecond: {second}",
    reply=Verdict,
)
