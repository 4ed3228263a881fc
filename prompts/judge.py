"""Judge a fork: a question, its two sub-questions and their answers (ToR-RAG's LLM-as-a-Judge)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.lenient import Points, Said, word_of
from ramify.prompts.prompt import Prompt

CRITERIA = ("sufficiency", "non_redundancy", "consistency", "decomposition")

Place = Literal["1", "2"]


class Judgement(Said):
    """Four criteria of a fork, 0 to 5 each, and the weaker of its two sub-questions."""

    sufficiency: Points = Field(description="how far the two sub-questions with their answers cover and answer the question")
    non_redundancy: Points = Field(description="5 if the two sub-questions do not overlap")
    consistency: Points = Field(description="5 if the sub-questions nowhere conflict with the question: they mean what it means")
    decomposition: Points = Field(description="5 if the question is divided neither too little nor too much")
    weaker: Annotated[Place, word_of(Place)] = Field(description="which sub-question helps less")

    @property
    def score(self) -> float:
        """Average the four criteria and bring them to [0, 1]."""
        return float(sum(getattr(self, name) for name in CRITERIA)) / (5 * len(CRITERIA))


JUDGE = Prompt(
    name="judge",
    task="Judge how well two sub-questions and their answers serve a question. Score each criterion from 0 (useless) to 5 (perfect). {dependent}",
    template="Question: {question}\n1. {first}\n   Answer: {first_answer}\n2. {second}\n   Answer: {second_answer}",
    reply=Judgement,
    phrases={
        "dependent": {
            True: "Neither sub-question may repeat the other; the second may build on the answer of the first.",
            False: "The sub-questions should be independent: neither overlaps with the other nor presupposes its answer.",
        }
    },
)
