"""Answer from the model's own memory, without retrieval (Non-RAG baseline)."""

from ramify.prompts._worked_examples import example
from ramify.prompts.answer import Answered
from ramify.prompts.prompt import Prompt

CLOSED_BOOK = Prompt(
    name="closed_book",
    task="Answer the question from what you know. No documents are given, so citations is an empty list. If you do not know, say Unknown.",
    template="Question: {question}",
    reply=Answered,
    examples=(
        example({"answer": "6", "confidence": 0.99, "citations": []}, question="How many sides does a hexagon have?"),
        example({"answer": "Unknown", "confidence": 0.9, "citations": []}, question="Who tuned the organ of Pellworth Chapel in 1871?"),
    ),
)
