"""Make a follow-up question self-contained from the conversation before it."""

from pydantic import Field

from ramify.prompts.lenient import PARAGRAPH, Said, Text
from ramify.prompts.prompt import Prompt


class Standalone(Said):
    """A question that needs no conversation to be understood."""

    # Bounded as all replies are, but never cut: half a question is another one.
    question: Text = Field(
        description="the last question, self-contained; unchanged if it already is", json_schema_extra={"maxLength": PARAGRAPH}
    )


CONTEXTUALIZE = Prompt(
    name="contextualize",
    task=(
        "A user asks questions one after another. Rewrite the last question so that it can be understood without the conversation. "
        "A pronoun stands for what the question before is about, or for its answer where that is what the pronoun means; "
        "an answer that is given as (not sure) is unknown: say instead what the question describes. "
        "A question word alone asks of the same thing what was asked before: keep the verb. "
        "Keep its meaning; a question that refers to nothing stays as it is. Do not answer it and add nothing else.\n"
        'Example: after "Who painted Guernica?" -> "Pablo Picasso", the question "and when was he born?" becomes '
        '"When was Pablo Picasso born?"\n'
        'Example: after "Where was the inventor of the ballpoint pen born?" -> "(not sure)", the question "and when?" becomes '
        '"When was the inventor of the ballpoint pen born?", and "How do I refill it?" becomes "How do I refill the ballpoint pen?"'
    ),
    template="Conversation:\n{turns}\n\nLast question: {question}",
    reply=Standalone,
)
