"""Ask a follow-up question, or give the final answer (Self-Ask)."""

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, example, finding
from ramify.prompts.lenient_types import Fraction, ShortAnswer
from ramify.prompts.next_question import DESIGNER, Next
from ramify.prompts.prompt import NO_ANSWER, Prompt


class Concluded(Next):
    """What a chain looks up next, or the answer to the main question."""

    answer: ShortAnswer = Field(
        default="", description="if done: Yes or No, a number, a date, a name or a short phrase, or Unknown; otherwise empty"
    )
    confidence: Fraction = Field(description="how sure you are of the answer; 0 if not done")


FOLLOW_UP = Prompt(
    name="follow_up",
    task=(
        "Answer a main question by asking follow-up questions, each of them simple and self-contained. Their intermediate answers are looked up "
        "for you. Say whether a follow-up question is needed here; if not, give the final answer from the intermediate answers alone."
    ),
    template="Follow-up questions and intermediate answers:\n{history}\n\nMain question: {question}",
    reply=Concluded,
    examples=(
        example(
            {"done": False, "question": "Where was Edda Rask born?", "answer": "", "confidence": 0.0}, history=[DESIGNER], question=HOLLIN
        ),
        example(
            {"done": True, "question": "", "answer": "Tarnholm", "confidence": 0.95},
            history=[DESIGNER, finding("0.0.0", "Where was Edda Rask born?", "Tarnholm", 0.95)],
            question=HOLLIN,
        ),
        example(
            {"done": True, "question": "", "answer": "Unknown", "confidence": 0.9},
            history=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.0.0", "When did Vane Bridge open?", NO_ANSWER, 0.9),
                finding("0.0.0.0", "When was Vane Bridge built?", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)
