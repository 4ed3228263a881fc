"""Answer one question from its passages (ToR-RAG partial answers, PruneRAG staged answers, naive and chain)."""

from pydantic import Field

from ramify.prompts._worked_examples import HOLLIN, VALLEY, example, passage
from ramify.prompts.lenient_types import Citations, Fraction, ModelReply, Sentence, ShortAnswer
from ramify.prompts.prompt import Prompt


class Answered(ModelReply):
    """A short answer, how sure the model is, and the passages it rests on."""

    answer: ShortAnswer = Field(
        description="the shortest exact answer: Yes or No, a number, a date, a name or a short phrase; otherwise Unknown"
    )
    confidence: Fraction = Field(description="how sure you are that it is right")
    citations: Citations = Field(description="the numbers of the passages that support it")


class AnsweredFromPassages(Answered):
    """An answer, and where there is none what the passages tell all the same."""

    missing: Sentence = Field(default="", description="if Unknown: what they tell of it and what not; otherwise empty")


ANSWER = Prompt(
    name="answer",
    task=(
        "Answer the question from the passages alone. Some may be about something else with a similar name. If none contains the answer, do not "
        "guess: say Unknown."
    ),
    template="Passages:\n{passages}\n\n{above}Question: {question}",
    reply=AnsweredFromPassages,
    thought="what the passages say of it",
    examples=(
        example(
            {
                "thought": "Passage 2 says so; 1871 is the year of a fire.",
                "answer": "1852",
                "confidence": 0.98,
                "citations": [2],
                "missing": "",
            },
            passages=[VALLEY, passage("Hollin Bridge", "It opened in 1852.")],
            question="When did Hollin Bridge open?",
        ),
        example(
            {
                "thought": "The designer is named, her birthplace is not.",
                "answer": "Unknown",
                "confidence": 0.9,
                "citations": [],
                "missing": "The designer is Edda Rask; her birthplace is not told.",
            },
            passages=[passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
        ),
        example(
            {
                "thought": "One stands on Vane Head, the other on Crane Isle.",
                "answer": "No",
                "confidence": 0.96,
                "citations": [1, 2],
                "missing": "",
            },
            passages=[passage("Skerry Light", "It stands on Vane Head."), passage("Mirefell Light", "It stands on Crane Isle.")],
            question="Do Skerry Light and Mirefell Light stand in the same place?",
        ),
    ),
)
