"""Make a follow-up question self-contained from the conversation before it."""

from pydantic import Field

from ramify.prompts.lenient import Said, Text
from ramify.prompts.prompt import Prompt


class Standalone(Said):
    """A question that needs no conversation to be understood."""

    question: Text = Field(description="the last question, self-contained; unchanged if it already is")


CONTEXTUALIZE = Prompt(
    name="contextualize",
    task=(
        "A user asks questions one after another. Rewrite the last question so that it can be understood without the conversation: replace "
        "pronouns and other references by the names they stand for, and complete what was left out. Keep its meaning. "
        "Do not answer it and add nothing else.\n"
        'Example: after "Who painted Guernica?" -> "Pablo Picasso", the question "and when was he born?" becomes '
        '"When was Pablo Picasso born?"'
    ),
    template="Conversation:\n{turns}\n\nLast question: {question}",
    reply=Standalone,
)
