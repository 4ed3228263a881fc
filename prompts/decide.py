"""Answer, decompose or name entities, in one reply (PruneRAG, joint wiring)."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.decompose import DEPENDENT, EXAMPLES, INDEPENDENT
from ramify.prompts.lenient import Numbers, Said, Share, Text, Texts, word_of
from ramify.prompts.prompt import Prompt

Way = Literal["answer", "decompose", "entities"]


class Decision(Said):
    """What to do with a question: one of three ways, with what that way needs."""

    action: Annotated[Way, word_of(Way)] = Field(description="which of the three you choose")
    answer: Text = Field(default="", description="for answer: the shortest exact answer; otherwise empty")
    confidence: Share = Field(description="for answer: how sure you are; otherwise 0")
    citations: Numbers = Field(description="for answer: the numbers of the passages that support it; otherwise an empty list")
    questions: Texts = Field(description="for decompose: exactly two self-contained sub-questions; otherwise an empty list")
    entities: Texts = Field(description="for entities: one or two names to look up; otherwise an empty list")


DECIDE = Prompt(
    name="decide",
    task=(
        "Choose what to do with the question, given the passages.\n"
        "answer: the passages contain the answer; give it.\n"
        "decompose: the passages do not suffice and the question asks for more than one fact; give two sub-questions that together cover it. "
        "{dependent}\n"
        "entities: the passages do not suffice and the question cannot be split; name one or two entities (people, works, places, "
        "organisations) whose articles would help.\n"
        "{may}Do not use knowledge that is not in the passages."
    ),
    template="Passages:\n{passages}\n\nQuestion: {question}\n{hint}",
    reply=Decision,
    phrases={"dependent": {True: f"{DEPENDENT}\n{EXAMPLES}", False: INDEPENDENT}},
)
