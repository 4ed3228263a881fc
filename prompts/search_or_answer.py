"""Think, then search or answer (ReAct; Search-o1)."""

from pydantic import Field

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, example, finding
from ramify.prompts.follow_up import Concluded
from ramify.prompts.lenient_types import Sentence
from ramify.prompts.prompt import NO_ANSWER, Prompt


class NextSearch(Concluded):
    """The next search query, or the answer to the main question."""

    question: Sentence = Field(default="", description="the next search query, a few words; empty if done")


SEARCH_OR_ANSWER = Prompt(
    name="search_or_answer",
    task=(
        "Answer a main question by searching documents step by step. Given the searches so far and what each gave, decide: search for what is "
        "missing, by a short query with the names as they were found, or answer from what was found. Never repeat a query; if one gave nothing, "
        "try other words."
    ),
    template="Searches:\n{history}\n\nMain question: {question}",
    reply=NextSearch,
    thought="what the searches gave, and what is still missing",
    examples=(
        example(
            {
                "thought": "The designer is Edda Rask; her birthplace is missing.",
                "done": False,
                "question": "Edda Rask birthplace",
                "answer": "",
                "confidence": 0.0,
            },
            history=[finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97)],
            question=HOLLIN,
        ),
        example(
            {
                "thought": "Edda Rask designed it and was born in Tarnholm.",
                "done": True,
                "question": "",
                "answer": "Tarnholm",
                "confidence": 0.95,
            },
            history=[
                finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97),
                finding("0.0.0", "Edda Rask birthplace", "Edda Rask was born in Tarnholm, the town of weavers.", 0.95),
            ],
            question=HOLLIN,
        ),
        example(
            {
                "thought": "The year of Vane Bridge is missing.",
                "done": False,
                "question": "Vane Bridge built",
                "answer": "",
                "confidence": 0.0,
            },
            history=[
                finding("0.0", "Hollin Bridge opening", "Hollin Bridge opened in 1852.", 0.97),
                finding("0.0.0", "Vane Bridge opening", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)
