"""Judge a fork: a question, its two sub-questions and their answers (ToR-RAG's LLM-as-a-Judge)."""

from typing import Literal

from pydantic import BaseModel, Field

from ramify.prompts.prompt import Prompt

CRITERIA = ("sufficiency", "non_redundancy", "consistency", "decomposition")


class Judgement(BaseModel):
    """Four criteria of a fork, 0 to 5 each, and the weaker of its two sub-questions."""

    sufficiency: float = Field(ge=0, le=5, description="how far the two answers together answer the question")
    non_redundancy: float = Field(ge=0, le=5, description="5 if neither sub-question nor answer repeats the other")
    consistency: float = Field(ge=0, le=5, description="5 if the answers do not contradict each other")
    decomposition: float = Field(ge=0, le=5, description="how well the sub-questions divide the question")
    weaker: Literal["1", "2"] = Field(description="which sub-question helps less")

    @property
    def score(self) -> float:
        """Average the four criteria and bring them to [0, 1]."""
        return float(sum(getattr(self, name) for name in CRITERIA)) / (5 * len(CRITERIA))


JUDGE = Prompt(
    name="judge",
    task="Judge how well two sub-questions and their answers serve a question. Score each criterion from 0 (useless) to 5 (perfect).",
    template="Question: {question}\n1. {first}\n   Answer: {first_answer}\n2. {second}\n   Answer: {second_answer}",
    reply=Judgement,
)
