"""Ask the next sub-question, or stop (chain of retrieval, CoR-RAG)."""

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, example, finding
from ramify.prompts.lenient_types import EmbeddedText, Flag, ModelReply, Sentence
from ramify.prompts.prompt import NO_ANSWER, Prompt


class Next(ModelReply):
    """The next sub-question of a chain, or the verdict that the history suffices."""

    done: Flag = Field(description="true if the history suffices to answer the main question")
    question: Sentence = Field(default="", description="the next simple, self-contained question to look up; empty if done")
    together: EmbeddedText = ""


DESIGNER = finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97)

NEXT_QUESTION = Prompt(
    name="next_question",
    task=(
        "You answer a main question by looking up one simple question after another. Given the history, say whether the main question can be "
        "answered now; if not, ask the next question. Use the answers so far in it; never repeat a question. If earlier answers do not help, "
        "ask in other words, or for a part of it."
    ),
    template="History:\n{history}\n\nMain question: {question}",
    reply=Next,
    thought="what the history gives, and what is still missing",
    examples=(
        example(
            {"thought": "The birthplace of the designer is still missing.", "done": False, "question": "Where was Edda Rask born?"},
            history=[DESIGNER],
            question=HOLLIN,
        ),
        example(
            {"thought": "The designer is Edda Rask, and the birthplace is Tarnholm.", "done": True, "question": ""},
            history=[DESIGNER, finding("0.0.0", "Where was Edda Rask born?", "Tarnholm", 0.95)],
            question=HOLLIN,
        ),
        example(
            {
                "thought": "The year of one is missing; asking when it was built may find it.",
                "done": False,
                "question": "When was Vane Bridge built?",
            },
            history=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.0.0", "When did Vane Bridge open?", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)
