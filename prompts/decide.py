"""Answer, decompose or name entities, in one reply (PruneRAG, joint wiring)."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, create_model

from ramify.prompts.decompose import DEPENDENT, INDEPENDENT
from ramify.prompts.lenient_types import NAME, SENTENCE, Aside, AtMost, Citations, Said, Share, Span, Texts, word_of
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, SPANS, example, passage

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
    together: Aside = ""


NEEDS = {"answer": ("answer", "confidence", "citations"), "decompose": ("questions", "together"), "entities": ("entities",)}
"""Which fields each way needs."""

NOTHING: dict[str, Any] = {"answer": "", "confidence": 0, "citations": [], "questions": [], "entities": []}
EXAMPLES = (
    example(
        {
            **NOTHING,
            "thought": "The passage does not name the designer, who has to be known first.",
            "action": "decompose",
            "questions": ["Who designed Hollin Bridge?", "Where was {1} born?"],
        },
        dependent=True,
        passages=[SPANS],
        question=HOLLIN,
    ),
    example(
        {
            **NOTHING,
            "thought": "Two opening years are compared, and the passage gives neither.",
            "action": "decompose",
            "questions": ["When did Hollin Bridge open?", "When did Vane Bridge open?"],
        },
        dependent=False,
        passages=[SPANS],
        question=FIRST_OPENED,
    ),
    example(
        {
            **NOTHING,
            "thought": "The first is 63 metres tall and the second 41.",
            "action": "answer",
            "answer": "Skerry Light",
            "confidence": 0.97,
            "citations": [1, 2],
        },
        passages=[passage("Skerry Light", "It is 63 metres tall."), passage("Mirefell Light", "It rises 41 metres above the rock.")],
        question="Which is taller, Skerry Light or Mirefell Light?",
    ),
    example(
        {
            **NOTHING,
            "thought": "It asks for one fact, and the passage only leads to those who built the organ.",
            "action": "entities",
            "entities": ["Lantz Brothers"],
        },
        passages=[passage("Pellworth Chapel", "The chapel has an organ by Lantz Brothers.")],
        question="Who tuned the organ of Pellworth Chapel in 1871?",
    ),
)

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
    template="Passages:\n{passages}\n\n{above}Question: {question}\n{hint}",
    reply=Decision,
    phrases={"dependent": {True: DEPENDENT, False: INDEPENDENT}},
    thought="what the passages say of it, and what is still missing",
    examples=EXAMPLES,
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
    return replace(DECIDE, reply=narrowed, examples=tuple(one for one in EXAMPLES if one.reply["action"] in ways))


def whole(narrowed: BaseModel) -> Decision:
    """Read a reply by fewer ways as a decision: what it has no field for is empty."""
    return Decision.model_validate(narrowed.model_dump())
