"""Answer a question from the answers of its sub-questions (PruneRAG, recursive backtrace)."""

from ramify.prompts._worked_examples import FIRST_OPENED, HOLLIN, example, finding, passage
from ramify.prompts.answer import Answered
from ramify.prompts.prompt import Prompt

AGGREGATE = Prompt(
    name="aggregate",
    task=(
        "Answer the question from the findings of its sub-questions; the passages behind them are for checking. If the findings contradict each "
        "other, trust the better supported. If they do not settle the question, say Unknown."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\n{above}Question: {question}",
    reply=Answered,
    thought="what the findings come to, and where they conflict",
    examples=(
        example(
            {"thought": "1847 is before 1852.", "answer": "Vane Bridge", "confidence": 0.96, "citations": [1, 2]},
            findings=[
                finding("0.0", "When did Hollin Bridge open?", "1852", 0.97),
                finding("0.1", "When did Vane Bridge open?", "1847", 0.96),
            ],
            passages=[passage("Hollin Bridge", "It opened in 1852."), passage("Vane Bridge", "It opened in 1847.")],
            question=FIRST_OPENED,
        ),
        example(
            {
                "thought": "Who designed it was not found, so there is no birthplace.",
                "answer": "Unknown",
                "confidence": 0.9,
                "citations": [],
            },
            findings=[finding("0.0", "Who designed Hollin Bridge?", "Unknown", None)],
            passages=[passage("Hollin Bridge", "It spans the river Oskel.")],
            question=HOLLIN,
        ),
    ),
)
