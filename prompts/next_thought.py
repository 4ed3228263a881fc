"""Write the next sentence of a chain of thought (IRCoT)."""

from pydantic import Field

from ramify.prompts.lenient_types import Said, Sentence
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import HOLLIN, VALLEY, example, passage


class Thought(Said):
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
    template="Passages:\n{passages}\n\nQuestion: {question}\n\nSentences so far:\n{said}",
    reply=Thought,
    examples=(
        example(
            {"sentence": DESIGNED}, passages=[VALLEY, passage("Hollin Bridge", "It was designed by Edda Rask.")], question=HOLLIN, said=[]
        ),
        example(
            {"sentence": "So the answer is: Tarnholm."},
            passages=[passage("Edda Rask", "She was born in Tarnholm."), passage("Hollin Bridge", "It was designed by Edda Rask.")],
            question=HOLLIN,
            said=[DESIGNED, BORN],
        ),
    ),
)
