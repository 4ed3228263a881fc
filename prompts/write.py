"""Write a known answer in sentences (`style=full`, if no other call does it)."""

from ramify.prompts.lenient_types import Written
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import HOLLIN, OSKEL, example, finding, passage

WRITE = Prompt(
    name="write",
    task=(
        "Write the answer to the question for a reader, in one to eight sentences: say it, and what it rests on. The answer is known; do not "
        "change it. Use nothing but the passages and findings, and keep names as the passages write them."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\nQuestion: {question}\nAnswer: {known}",
    reply=Written,
    examples=(
        example(
            {"text": "Hollin Bridge was designed by Edda Rask [1]. She was born in Tarnholm [3]."},
            findings=[
                finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97),
                finding("0.1", "Where was Edda Rask born?", "Tarnholm", 0.95),
            ],
            passages=[
                passage("Hollin Bridge", "Hollin Bridge spans the Oskel. It was designed by Edda Rask and opened in 1852."),
                OSKEL,
                passage("Edda Rask", "Edda Rask (1811 to 1884) was an engineer, born in Tarnholm."),
            ],
            question=HOLLIN,
            known="Tarnholm",
        ),
    ),
)
