"""Ask the next sub-question, or stop (chain of retrieval, CoR-RAG)."""

from pydantic import Field

from ramify.prompts.lenient import Flag, Said, Sentence
from ramify.prompts.prompt import Prompt


class Next(Said):
    """The next sub-question of a chain, or the verdict that the history suffices."""

    done: Flag = Field(description="true if the history suffices to answer the main question")
    question: Sentence = Field(default="", description="the next simple, self-contained question to look up; empty if done")


NEXT_QUESTION = Prompt(
    name="next_question",
    task=(
        "You answer a main question by looking up one simple question after another. Given the history, say whether the main question can be "
        "answered now; if not, ask the next question. Use the answers so far in it; never repeat a question."
    ),
    template="History:\n{history}\n\nMain question: {question}",
    reply=Next,
)
