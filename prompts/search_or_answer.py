"""Think, then search or answer (ReAct; Search-o1)."""

from ramify.prompts.follow_up import Concluded
from ramify.prompts.prompt import NO_ANSWER, Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, example, finding

SEARCH_OR_ANSWER = Prompt(
    name="search_or_answer",
    task=(
        "Answer a main question by searching documents step by step. Given the searches so far and what each gave, decide: search for what is "
        "missing, by a short query with the names as they were found, or answer from what was found. Never repeat a query; if one gave nothing, "
        "try other words."
    ),
    template="Searches:\n{history}\n\nMain question: {question}",
    reply=Concluded,
    thought="what the searches gave, and what is still missing",
    examples=(
        example(
            {
                "thought": "The designer is Edda Rask; her birthplace is missing.",
                "done": False,
                "question": "Edda Rask birthplace",
                "answer": "",
            },
            history=[finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97)],
            question=HOLLIN,
        ),
        example(
            {"thought": "Edda Rask designed it and was born in Tarnholm.", "done": True, "question": "", "answer": "Tarnholm"},
            history=[
                finding("0.0", "Hollin Bridge designer", "Hollin Bridge was designed by Edda Rask.", 0.97),
                finding("0.0.0", "Edda Rask birthplace", "Edda Rask was born in Tarnholm, the town of weavers.", 0.95),
            ],
            question=HOLLIN,
        ),
        example(
            {"thought": "The year of Vane Bridge is missing.", "done": False, "question": "Vane Bridge built", "answer": ""},
            history=[
                finding("0.0", "Hollin Bridge opening", "Hollin Bridge opened in 1852.", 0.97),
                finding("0.0.0", "Vane Bridge opening", NO_ANSWER, 0.9),
            ],
            question=FIRST_OPENED,
        ),
    ),
)
