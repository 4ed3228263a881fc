"""Answer, decompose, name entities or report that the passages hold no answer, in one reply (PruneRAG, joint)."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, create_model

from ramify.prompts.decompose import DEPENDENT, INDEPENDENT
from ramify.prompts.lenient_types import (
    NAME_CHARS,
    SENTENCE_CHARS,
    AtMost,
    Citations,
    EmbeddedText,
    Fraction,
    ModelReply,
    ShortAnswer,
    Texts,
    one_of_words,
)
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import FIRST_OPENED, HOLLIN, example, passage

Way = Literal["answer", "decompose", "entities", "unknown"]
WAYS: tuple[Way, ...] = get_args(Way)


class Decision(ModelReply):
    """What to do with a question: one of four ways, with what that way needs."""

    action: Annotated[Way, one_of_words(Way)] = Field(description="your choice; the others' fields are empty")
    answer: ShortAnswer = Field(default="", description="the shortest exact answer")
    confidence: Fraction = Field(description="how sure you are of it")
    citations: Citations = Field(description="the passages that support it, or tell a part")
    questions: Annotated[Texts, AtMost(2, each=SENTENCE_CHARS)] = Field(description="one or two, self-contained")
    entities: Annotated[Texts, AtMost(2, each=NAME_CHARS)] = Field(description="the names to look up")
    together: EmbeddedText = ""


WAY_FIELDS: dict[str, tuple[str, ...]] = {
    "answer": ("answer", "confidence", "citations"),
    "decompose": ("questions", "together", "citations"),
    "entities": ("entities",),
    "unknown": (),
}
"""The fields that each way needs."""


def _choose(action: Way, **fields: Any) -> Decision:
    """Return a decision whose other fields are empty."""
    return Decision(**{"action": action, "confidence": 0, "citations": [], "questions": [], "entities": [], **fields})


EXAMPLES = (
    example(
        _choose("decompose", questions=["Who designed Hollin Bridge?", "Where was {1} born?"]),
        thought="The designer is needed first.",
        dependent=True,
        passages=[],
        question=HOLLIN,
    ),
    example(
        _choose("decompose", questions=["When did Hollin Bridge open?", "When did Vane Bridge open?"]),
        thought="Two opening years are compared.",
        dependent=False,
        passages=[],
        question=FIRST_OPENED,
    ),
    example(
        _choose("answer", answer="1852", confidence=0.98, citations=[1]),
        thought="It opened in 1852.",
        written="Hollin Bridge opened in 1852 [1].",
        passages=[passage("Hollin Bridge", "It opened in 1852.")],
        question="When did Hollin Bridge open?",
    ),
    example(
        _choose("decompose", citations=[1], questions=["Where was Edda Rask born?"]),
        thought="The designer is told; her birthplace is missing.",
        passages=[passage("Hollin Bridge", "It was designed by Edda Rask.")],
        question=HOLLIN,
    ),
)
"""Two are shown by default, one that splits and one that answers; the rest is explained in the task, which takes fewer tokens."""

DECIDE = Prompt(
    name="decide",
    purpose="Answer, decompose, name entities or report that the passages hold no answer, in one reply (PruneRAG, joint)",
    task=(
        "Choose what to do, by the passages alone.\n"
        "answer: they contain it.\n"
        "decompose: ask for what is missing, never for what a passage tells. {dependent}\n"
        "entities: the article of a person, work, place or organisation that is not shown may tell it.\n"
        "unknown: neither would help.\n"
        "{may}"
    ),
    template="Passages:\n{passages}\n\n{above}Question: {question}\n{hint}",
    plans=True,
    reply=Decision,
    phrases={"dependent": {True: DEPENDENT, False: INDEPENDENT}},
    thought="what they say of it, and what is missing",
    examples=EXAMPLES,
)


@cache
def decide_prompt(ways: tuple[str, ...], concludes: bool = False) -> Prompt[Any]:
    """Return the prompt with a reply type restricted to fewer ways (an ablation), so that the schema excludes the others.

    If its answer may be that to the whole question, it is also given in sentences.
    """
    if concludes:
        return replace(decide_prompt(ways), concludes=True, text_last=True)
    if ways == WAYS:
        return DECIDE
    fields = Decision.model_fields
    kept: dict[str, Any] = {name: (fields[name].annotation, fields[name]) for way in ways for name in WAY_FIELDS[way]}
    action: Any = Literal.__getitem__(ways)
    choice = Annotated[action, one_of_words(action)]
    narrowed: Any = create_model("Decision", __base__=ModelReply, action=(choice, Field(description="which one you choose")), **kept)
    return replace(DECIDE, reply=narrowed, examples=tuple(example for example in EXAMPLES if getattr(example.reply, "action", "") in ways))
