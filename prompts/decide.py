"""Answer, decompose, name entities or report that the passages hold no answer, in one reply (PruneRAG, joint)."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, create_model

from ramify.prompts.decompose import DEPENDENT, INDEPENDENT
from ramify.prompts.lenient_types import NAME, SENTENCE, Aside, AtMost, Citations, Said, Share, Span, Texts, word_of
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, VALLEY, example

Way = Literal["answer", "decompose", "entities", "unknown"]
WAYS: tuple[Way, ...] = get_args(Way)


class Decision(Said):
    """What to do with a question: one of four ways, with what that way needs."""

    action: Annotated[Way, word_of(Way)] = Field(description="your choice; the fields of the others are empty")
    answer: Span = Field(default="", description="the shortest exact answer")
    confidence: Share = Field(description="how sure you are of it")
    citations: Citations = Field(description="numbers of the passages that support it")
    questions: Annotated[Texts, AtMost(2, each=SENTENCE)] = Field(description="two self-contained sub-questions that together cover it")
    entities: Annotated[Texts, AtMost(2, each=NAME)] = Field(description="the names to look up")
    together: Aside = ""


NEEDS: dict[str, tuple[str, ...]] = {
    "answer": ("answer", "confidence", "citations"),
    "decompose": ("questions", "together"),
    "entities": ("entities",),
    "unknown": (),
}
"""Which fields each way needs."""

NOTHING: dict[str, Any] = {"answer": "", "confidence": 0, "citations": [], "questions": [], "entities": []}
EXAMPLES = (
    example(
        {
            **NOTHING,
            "thought": "The designer has to be known first.",
            "action": "decompose",
            "questions": ["Who designed Hollin Bridge?", "Where was {1} born?"],
        },
        dependent=True,
        passages=[VALLEY],
        question=HOLLIN,
    ),
    example(
        {
            **NOTHING,
            "thought": "Two opening years are compared.",
            "action": "decompose",
            "questions": ["When did Hollin Bridge open?", "When did Vane Bridge open?"],
        },
        dependent=False,
        passages=[VALLEY],
        question=FIRST_OPENED,
    ),
)
"""One is shown: the form of the reply and a long passage that does not help; what more would cost is told in words."""

DECIDE = Prompt(
    name="decide",
    task=(
        "Choose what to do with the question by the passages alone.\n"
        "answer: the passages contain the answer.\n"
        "decompose: they do not, and more than one fact is missing. {dependent}\n"
        "entities: one fact is missing, which the article of a person, work, place or organisation that is not shown may tell.\n"
        "unknown: the passages do not tell, and neither would help.\n"
        "{may}"
    ),
    template="Passages:\n{passages}\n\n{above}Question: {question}\n{hint}",
    reply=Decision,
    phrases={"dependent": {True: DEPENDENT, False: INDEPENDENT}},
    thought="what they say of it, and what is missing",
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
