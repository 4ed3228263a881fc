"""Answer a question from the answers of its sub-questions (PruneRAG, recursive backtrace)."""

from ramify.prompts.answer import Answered
from ramify.prompts.prompt import Prompt

AGGREGATE = Prompt(
    name="aggregate",
    task=(
        "Answer the question from the findings of its sub-questions; the passages behind them are for checking. If the findings contradict each "
        "other, trust the better supported. If they do not settle the question, say Unknown."
    ),
    template="Findings:\n{findings}\n\nPassages:\n{passages}\n\nQuestion: {question}",
    reply=Answered,
)
