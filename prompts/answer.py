"""Answer one question: from its passages, from memory (closed book), or from the answers of its sub-questions (aggregate)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from ramify.prompts.lenient_types import Citations, Fraction, ModelReply, Sentence, ShortAnswer
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, example, finding, passage


class Answered(ModelReply):
    """A short answer, how sure the model is, and the passages it rests on."""

    answer: ShortAnswer = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; otherwise Unknown"
    )
    confidence: Fraction = Field(description="how sure you are that it is right")
    citations: Citations = Field(description="the numbers of the passages that support it")


class AnsweredFromPassages(Answered):
    """An answer, and where there is none what the passages tell all the same."""

    answer: ShortAnswer = Field(description="the answer alone")
    missing: SkipJsonSchema[Sentence] = ""
    """Beside Unknown: what they tell of it and what not. A model says it after `Unknown:`, so that a known answer costs no token more."""

    @model_validator(mode="before")
    @classmethod
    def _split_unknown(cls, given: Any) -> Any:
        """Take what stands behind `Unknown:` as what is missing."""
        if not isinstance(given, Mapping) or not isinstance(answer := given.get("answer"), str):
            return given
        word, _, reason = answer.partition(":")
        return {"missing": reason.strip(), **given, "answer": word} if word.strip() == "Unknown" and reason.strip() else given


ANSWER = Prompt(
    name="answer",
    purpose="Answer one question from its passages (ToR-RAG partial answers, PruneRAG staged answers, naive and chain)",
    task=(
        "Answer the question from the passages alone, in as few words as possible: a name, a date, a number, or Yes or No. Some passages may be "
        "about something else with a similar name. If they do not contain the answer, say Unknown: and in a few words what is missing."
    ),
    template="Passages:\n{passages}\n\n{above}Question: {question}",
    reply=AnsweredFromPassages,
)
"""Without examples and thought: small models copy both, and a server that has read the passages need read nothing else."""
CONCLUDING_ANSWER = replace(ANSWER, concludes=True, text_last=True)
"""The same where nothing follows: with the answer in sentences, which need no call of their own."""


CLOSED_BOOK = Prompt(
    name="closed_book",
    purpose="Answer from the model's own memory, without retrieval (Non-RAG baseline)",
    task="Answer the question from what you know. No documents are given, so citations is an empty list. If you do not know, say Unknown.",
    template="Question: {question}",
    reply=Answered,
    examples=(
        example(Answered(answer="6", confidence=0.99, citations=[]), question="How many sides does a hexagon have?"),
        example(Answered(answer="Unknown", confidence=0.9, citations=[]), question="Who tuned the organ of Pellworth Chapel in 1871?"),
    ),
)


AGGREGATE = Prompt(
    name="aggregate",
    purpose="Answer a question from the answers of its sub-questions (PruneRAG, recursive backtrace)",
    task=(
        "Answer the question from the findings of its sub-questions; the passages behind them are for checking. If the findings contradict each "
        "other, trust the better supported. If they do not settle the question, say Unknown."
    ),
    template="Passages:\n{passages}\n\nFindings:\n{findings}\n\n{above}Question: {question}",
    reply=Answered,
    thought="what the findings come to, and where they conflict",
    examples=(
        example(
            Answered(answer="Vane Bridge", confidence=0.96, citations=[1, 2]),
            thought="1847 is before 1852.",
            findings=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.1", "When did Vane Bridge open?", "1847", 0.96),
            ],
            passages=[passage("Hollin Bridge", "It opened in 1852."), passage("Vane Bridge", "It opened in 1847.")],
            question=FIRST_OPENED,
        ),
        example(
            Answered(answer="Unknown", confidence=0.9, citations=[]),
            thought="Who designed it was not found, so there is no birthplace.",
            findings=[finding("0.0", "Who designed Hollin Bridge?", "Unknown", None)],
            passages=[passage("Hollin Bridge", "It spans the river Oskel.")],
            question=HOLLIN,
        ),
    ),
)
