"""Write the next sentence of a chain of thought (IRCoT)."""

from pydantic import Field

from ramify.prompts._worked_examples import HOLLIN, VALLEY, example, passage
from ramify.prompts.lenient_types import ModelReply, Sentence
from ramify.prompts.prompt import Prompt


class Thought(ModelReply):
    """One step of reasoning."""

    sentence: Sentence = Field(
        description="the next sentence: a fact that is needed, or what is still to be found; once all is known: So the answer is: …"
    )


DESIGNED, BORN = "Hollin Bridge was designed by Edda Rask.", "Edda Rask was born in Tarnholm."

NEXT_THOUGHT = Prompt(
    name="next_thought",
    task=(
        "Reason step by step towards the answer, one sentence at a time, from the passages. Write the next sentence alone; never repeat one. "
        "Passages for it are looked up after each. As soon as the sentences settle the question, write 'So the answer is:', in English, and the answer."
    ),
    template="Passages:\n{passages}\n\nQuestion: {question}\n\nSentences so far:\n{sentences}",
    reply=Thought,
    examples=(
        example(
            {"sentence": DESIGNED},
            passages=[VALLEY, passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
            sentences=[],
        ),
        example(
            {"sentence": "So the answer is: Tarnholm."},
            passages=[passage("Edda Rask", "She was born in Tarnholm."), passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
            sentences=[DESIGNED, BORN],
        ),
    ),
)
