"""Score a pair of sub-questions before it is searched (rubric), and a fork by its answers (judge): ToR-RAG."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.lenient_types import ModelReply, Score, Sentence, one_of_words
from ramify.prompts.prompt import NO_ANSWER, Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, example

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
    purpose="Judge a decomposition before searching for its sub-questions (ToR-RAG's decomposition judge)",
    task=(
        "Score how well two sub-questions decompose a question, one point each: both are WH-questions; both are specific and measurable, answerable "
        "with facts and not with opinions; both are relevant to the question; {dependent}; together they are complete."
    ),
    template="Question: {question}\nFirst: {first}\nSecond: {second}",
    plans=True,
    reply=Verdict,
    examples=(
        example(
            Verdict(reasons="The second builds on the first, and both together give the birthplace.", score=5, verdict="VALID"),
            dependent=True,
            question=HOLLIN,
            first="Who designed Hollin Bridge?",
            second="Where was {1} born?",
        ),
        example(
            Verdict(reasons="Each asks for one of the two years that are compared.", score=5, verdict="VALID"),
            dependent=False,
            question=FIRST_OPENED,
            first="When did Hollin Bridge open?",
            second="When did Vane Bridge open?",
        ),
        example(
            Verdict(reasons="The second asks for an opinion, and Mirefell Light is left out.", score=2, verdict="INVALID"),
            question="Which is taller, Skerry Light or Mirefell Light?",
            first="How tall is Skerry Light?",
            second="Is Skerry Light beautiful?",
        ),
    ),
    phrases={"dependent": {True: f"neither repeats the other ({BRIDGE})", False: SEPARATE}},
)


CRITERIA = ("sufficiency", "non_redundancy", "consistency", "decomposition")

Place = Literal["1", "2", "neither"]


class Judgement(ModelReply):
    """Four criteria of a fork, 0 to 5 each, and the weaker of its two sub-questions."""

    sufficiency: Score = Field(description="how far the two sub-questions with their answers cover and answer the question")
    non_redundancy: Score = Field(description="5 if the two sub-questions do not overlap")
    consistency: Score = Field(description="5 if the sub-questions nowhere conflict with the question: they mean what it means")
    decomposition: Score = Field(description="5 if the question is divided neither too little nor too much")
    weaker: Annotated[Place, one_of_words(Place, otherwise="neither")] = Field(
        description="which sub-question helps less; neither where both help alike"
    )

    @property
    def score(self) -> float:
        """Average the four criteria and bring them to [0, 1]."""
        return float(sum(getattr(self, name) for name in CRITERIA)) / (5 * len(CRITERIA))


JUDGE = Prompt(
    name="judge",
    purpose="Judge a fork: a question, its two sub-questions and their answers (ToR-RAG's LLM-as-a-Judge)",
    task="Judge how well two sub-questions and their answers serve a question. Score each criterion from 0 (useless) to 5 (perfect). {dependent}",
    template="Question: {question}\n1. {first}\n   Answer: {first_answer}\n2. {second}\n   Answer: {second_answer}",
    plans=True,
    reply=Judgement,
    thought="what the two answers give of what the question asks for",
    examples=(
        example(
            Judgement(sufficiency=5, non_redundancy=5, consistency=5, decomposition=5, weaker="neither"),
            thought="Together they give the birthplace, and neither could be left out.",
            dependent=True,
            question=HOLLIN,
            first="Who designed Hollin Bridge?",
            first_answer="Edda Rask",
            second="Where was Edda Rask born?",
            second_answer="Tarnholm",
        ),
        example(
            Judgement(sufficiency=5, non_redundancy=5, consistency=5, decomposition=5, weaker="neither"),
            thought="Together they give both years that are compared.",
            dependent=False,
            question=FIRST_OPENED,
            first="When did Hollin Bridge open?",
            first_answer="1852",
            second="When did Vane Bridge open?",
            second_answer="1847",
        ),
        example(
            Judgement(sufficiency=1, non_redundancy=1, consistency=3, decomposition=1, weaker="2"),
            thought="The second repeats the first and has no answer, and Mirefell Light is left out.",
            question="Which is taller, Skerry Light or Mirefell Light?",
            first="How tall is Skerry Light?",
            first_answer="63 metres",
            second="Is Skerry Light tall?",
            second_answer=NO_ANSWER,
        ),
    ),
    phrases={
        "dependent": {
            True: "Neither sub-question may repeat the other; the second may build on the answer of the first.",
            False: "The sub-questions should be independent: neither overlaps with the other nor presupposes its answer.",
        }
    },
)
