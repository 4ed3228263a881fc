"""Name the entities to look up for a question that cannot be split (PruneRAG's fine-grained retrieval)."""

from typing import Annotated

from pydantic import Field

from ramify.prompts._worked_examples import example, passage
from ramify.prompts.lenient_types import NAME_CHARS, AtMost, ModelReply, Texts
from ramify.prompts.prompt import Prompt


class Entities(ModelReply):
    """One or two names to search verbatim; none if the question has none."""

    entities: Annotated[Texts, AtMost(2, each=NAME_CHARS)] = Field(
        description="one or two names, written as an article title would be; an empty list if there is none"
    )


ENTITIES = Prompt(
    name="entities",
    task=(
        "Name one or two entities (people, works, places, organisations, things) whose articles would help to answer the question. Take them from "
        "the question, or from the passages where they lead to the answer."
    ),
    template="Passages:\n{passages}\n\nQuestion: {question}",
    reply=Entities,
    examples=(
        example(
            {"entities": ["Lantz Brothers"]},
            passages=[passage("Pellworth Chapel", "The chapel has an organ by Lantz Brothers.")],
            question="Who tuned the organ of Pellworth Chapel in 1871?",
        ),
        example({"entities": []}, passages=[], question="Why is that so?"),
    ),
)
