"""Answer, decompose or name entities, in one reply (PruneRAG, joint wiring)."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, create_model

from ramify.prompts.decompose import DEPENDENT, EXAMPLES, INDEPENDENT
from ramify.prompts.lenient import NAME, SENTENCE, AtMost, Citations, Said, Share, Span, Texts, word_of
from ramify.prompts.prompt import Prompt

Way = Literal["answer", "decompose", "entities"]
WAYS: tuple[Way, ...] = get_args(Way)


class Decision(Said):
    """What to do with a question: one of three ways, with what that way needs."""

    action: Annotated[Way, word_of(Way)] = Field(description="which of the three you choose")
    answer: Span = Field(default="", description="for answer: the shortest exact answer; otherwise empty")
    confidence: Share = Field(description="for answer: how sure you are; otherwise 0")
    citations: Citations = Field(description="for answer: the numbers of the passages that support it; otherwise an empty list")
    questions: Annotated[Texts, AtMost(2, each=SENTENCE)] = Field(
        description="for decompose: exactly two self-contained sub-questions; otherwise an empty list"
    )
    entities: Annotated[Texts, AtMost(2, each=NAME)] = Field(
        description="for entities: one or two names to look up; otherwise an empty list"
    )


NEEDS = {"answer": ("answer", "confidence", "citations"), "decompose": ("questions",), "entities": ("entities",)}
"""Which fields each way needs."""

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


@cache
def decide_by(ways: tuple[str, ...]) -> Prompt[Any]:
    """Narrow the reply to fewer ways (an ablation): a schema that lacks a way cannot be used to choose it."""
    if ways == WAYS:
        return DECIDE
    fields = Decision.model_fields
    kept: dict[str, Any] = {name: (fields[name].annotation, fields[name]) for way in ways for name in NEEDS[way]}
    action: Any = Literal.__getitem__(ways)
    choice = Annotated[action, word_of(action)]
    narrowed: Any = create_model("Decision", __base__=Said, action=(choice, Field(description="which one you choose")), **kept)
    return replace(DECIDE, reply=narrowed)


def whole(narrowed: BaseModel) -> Decision:
    """Read a reply by fewer ways as a decision: what it has no field for is empty."""
    return Decision.model_validate(narrowed.model_dump())
