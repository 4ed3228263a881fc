"""Write a test question of one kind about passages, with its answer and the sentences that contain it (`ramify questions`)."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ramify.prompts.lenient_types import AtMost, ModelReply, Sentence, Span, Texts
from ramify.prompts.prompt import Example, Prompt
from ramify.prompts.worked_examples import example, passage

MAX_QUOTES, MAX_QUOTE_CHARS = 2, 360
"""Maximum quotes of a question, and characters of one."""


class ProposedQuestion(ModelReply):
    """A question with its answer and what that rests on."""

    question: Sentence = Field(description="the question, which names what it is about: its reader sees no passage")
    answer: Span = Field(description="the right answer, as short as it can be")
    quotes: Annotated[Texts, AtMost(MAX_QUOTES, each=MAX_QUOTE_CHARS)] = Field(
        description="sentences that hold the answer, copied from the passages letter by letter"
    )


KIND_INSTRUCTIONS = {
    "fact": "a question for one fact that the passage states; the answer is a name, a date, a number or a short phrase; one quote",
    "two-hop": (
        "a question that takes both passages, which share {name}. Passage 2 tells something of {name}: ask for that, but instead of "
        "naming {name}, describe it, unmistakably, by what passage 1 tells of it. Two quotes: one from passage 1, one from passage 2"
    ),
    "yes": "a question to be answered with Yes, by what the passage states; the answer is Yes; one quote",
    "no": (
        "a question to be answered with No, because the passage states otherwise (another name, place, time or number than asked); the "
        "answer is No; one quote, which states what is right"
    ),
    "how-to": "a question beginning with How, for a step, option or method that the passage gives; the answer is what to do; one quote",
    "unanswerable": (
        "a question about the subject of the passage that the passage does not answer, for one fact that a reader may want to know; the "
        "answer is Unknown; no quote"
    ),
}
"""Instructions for the kinds of questions."""

_BRIDGE = passage("Hollin Bridge", "Hollin Bridge spans the Oskel. It was designed by Edda Rask and opened in 1852.")
_RASK = passage("Edda Rask", "Edda Rask (1811 to 1884) was an engineer, born in Tarnholm.")
_LOCK = passage("Lock", "To open the lock, lift the bar and turn the wheel to the left.")
DESIGNED = "It was designed by Edda Rask and opened in 1852."


def _example(kind: str, question: str, answer: str, *quotes: str, about: str = "bridge") -> Example:
    shown = {"bridge": [_BRIDGE], "both": [_BRIDGE, _RASK], "lock": [_LOCK]}[about]
    wanted = KIND_INSTRUCTIONS[kind].format(name="Edda Rask")
    return example(ProposedQuestion(question=question, answer=answer, quotes=list(quotes)), passages=shown, wanted=wanted)


EXAMPLES = {
    "fact": _example("fact", "When did Hollin Bridge open?", "1852", DESIGNED),
    "two-hop": _example("two-hop", "Where was the designer of Hollin Bridge born?", "Tarnholm", DESIGNED, _RASK["text"], about="both"),
    "yes": _example("yes", "Does Hollin Bridge span the Oskel?", "Yes", "Hollin Bridge spans the Oskel."),
    "no": _example("no", "Did Hollin Bridge open before 1850?", "No", DESIGNED),
    "how-to": _example("how-to", "How is the lock opened?", "lift the bar and turn the wheel to the left", _LOCK["text"], about="lock"),
    "unanswerable": _example("unanswerable", "How long is Hollin Bridge?", "Unknown"),
}
PROPOSE = Prompt(
    name="propose",
    purpose="Write a test question of one kind about passages, with its answer and the sentences that contain it (`ramify questions`)",
    task=(
        "Write one question with which to test whether others find their way in a collection of documents; they see the question alone. "
        'Say by name what it is about, never "the passage" or "it". Do not use the passage\'s own words where others will do, and do not '
        "give the answer away. Use nothing but the passages, and write in their language. If they have nothing to ask for in the way wanted, leave "
        "the question empty."
    ),
    template="Passages:\n{passages}\n\nWanted: {wanted}.",
    reply=ProposedQuestion,
    examples=(EXAMPLES["fact"], EXAMPLES["unanswerable"]),
)


def propose_prompt(kind: str) -> Prompt[ProposedQuestion]:
    """Return the prompt for a kind of question, with the worked example of that kind first."""
    others = [worked for name, worked in EXAMPLES.items() if name not in (kind, "two-hop")]
    return replace(PROPOSE, examples=(EXAMPLES[kind], *others[:1]))
