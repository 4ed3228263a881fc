"""Answer from the model's own memory, without retrieval (Non-RAG baseline)."""

from ramify.prompts.answer import Answered
from ramify.prompts.prompt import Prompt

CLOSED_BOOK = Prompt(
    name="closed_book",
    task="Answer the question from what you know. No documents are given, so citations is an empty list. If you do not know, say Unknown.",
    template="Question: {question}",
    reply=Answered,
)
