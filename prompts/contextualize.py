"""Make a follow-up question self-contained from the conversation before it."""

from pydantic import Field

from ramify.prompts.lenient_types import ModelReply, Text
from ramify.prompts.prompt import Prompt, Turn
from ramify.prompts.worked_examples import example

MAX_REWRITTEN_CHARS = 600
"""Characters of a question that a grammar lets a model write."""


class Standalone(ModelReply):
    """A question that needs no conversation to be understood."""

    # Bounded as all replies are, but never cut: half a question is another one.
    question: Text = Field(
        description="the last question, self-contained; unchanged if it already is", json_schema_extra={"maxLength": MAX_REWRITTEN_CHARS}
    )


DESIGNER = Turn(asked="Who designed Hollin Bridge?", answer="Edda Rask", sure=True)

CONTEXTUALIZE = Prompt(
    name="contextualize",
    purpose="Make a follow-up question self-contained from the conversation before it",
    task=(
        "A user asks questions one after another. Rewrite the last question so that it can be understood without the conversation. "
        "A pronoun stands for what the question before is about, or for its answer where that is what the pronoun means; "
        "an answer that is given as (not sure) is unknown: say instead what the question describes. "
        "A question word alone asks of the same thing what was asked before: keep the verb. "
        "Keep its meaning; a question that refers to nothing stays as it is. Do not answer it and add nothing else."
    ),
    template="Conversation:\n{turns}\n\nLast question: {question}",
    reply=Standalone,
    examples=(
        example(Standalone(question="Where was Edda Rask born?"), turns=[DESIGNER], question="and where was she born?"),
        example(
            Standalone(question="When was the designer of Skerry Light born?"),
            turns=[Turn(asked="Where was the designer of Skerry Light born?", answer="Tarnholm", sure=False)],
            question="and when?",
        ),
        example(Standalone(question="How tall is Mirefell Light?"), turns=[DESIGNER], question="How tall is Mirefell Light?"),
    ),
)
