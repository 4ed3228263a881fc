"""The final call: answer the whole question from the tree, write a known answer in sentences, check sentences."""

from typing import Annotated, Literal

from pydantic import Field

from ramify.prompts.lenient_types import AtMost, Citations, Fraction, ModelReply, Numbers, ShortAnswer, Written, one_of_words
from ramify.prompts.prompt import Prompt
from ramify.prompts.worked_examples import HOLLIN, OSKEL, example, finding, passage

Step = Literal["agreement", "trust", "majority", "fit", "unsettled"]


class Final(ModelReply):
    """The answer, what it rests on, and how conflicting findings were settled."""

    answer: ShortAnswer = Field(description="Yes, No, a number, a date, a name or a short phrase, or Unknown")
    confidence: Fraction = Field(description="how sure you are of it")
    citations: Citations = Field(description="the numbers of the passages that support it")
    settled_by: Annotated[Step, one_of_words(Step, otherwise="agreement")] = Field(
        default="agreement", description="what settled a conflict, if any"
    )


FINALIZE = Prompt(
    name="finalize",
    purpose="Answer the whole question from the tree and its best passages (ToR-RAG finalizer, PruneRAG single backtrace, chain)",
    task=(
        "Answer the question from the findings and passages alone; findings may be wrong. If they conflict, trust the better source, then the "
        "majority, then what fits the question; else say Unknown."
    ),
    template="Passages:\n{passages}\n\nFindings:\n{findings}\n\nQuestion: {question}",
    reply=Final,
    thought="what they come to, and what is missing",
    concludes=True,
    examples=(
        example(
            Final(answer="Tarnholm", confidence=0.95, citations=[1, 2], settled_by="trust"),
            thought="Passage 2 says Tarnholm.",
            written="Edda Rask designed it [1]. She was born in Tarnholm [2].",
            findings=[
                finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97),
                finding("0.1", "Where was Edda Rask born?", "Oskel", 0.4),
            ],
            passages=[passage("Hollin Bridge", "It was designed by Edda Rask."), passage("Edda Rask", "She was born in Tarnholm.")],
            question=HOLLIN,
        ),
    ),
)


WRITE = Prompt(
    name="write",
    purpose="Write a known answer in sentences (`style=full`, if no other call does it)",
    task=(
        "Write the answer to the question for a reader, in one to eight sentences: say it, and what it rests on. The answer is known; do not "
        "change it. Use nothing but the passages and findings, and keep names as the passages write them."
    ),
    template="Passages:\n{passages}\n\nFindings:\n{findings}\n\nQuestion: {question}\nAnswer: {known}",
    reply=Written,
    examples=(
        example(
            Written(text="Hollin Bridge was designed by Edda Rask [1]. She was born in Tarnholm [3]."),
            findings=[
                finding("0.0", "Who designed Hollin Bridge?", "Edda Rask", 0.97),
                finding("0.1", "Where was Edda Rask born?", "Tarnholm", 0.95),
            ],
            passages=[
                passage("Hollin Bridge", "Hollin Bridge spans the Oskel. It was designed by Edda Rask and opened in 1852."),
                OSKEL,
                passage("Edda Rask", "Edda Rask (1811 to 1884) was an engineer, born in Tarnholm."),
            ],
            question=HOLLIN,
            known="Tarnholm",
        ),
    ),
)


class Checked(ModelReply):
    """The sentences that are not supported."""

    unsupported: Annotated[Numbers, AtMost(16)] = Field(
        description="the numbers of the sentences that the passages do not say; an empty list if they say all of them"
    )


CHECK = Prompt(
    name="check",
    purpose="Say which sentences of an answer the passages do not support (`check=model`)",
    task="Say which sentences are not supported: a sentence is supported if the passages that it cites in brackets say all that it says.",
    template="Passages:\n{passages}\n\nSentences:\n{sentences}",
    reply=Checked,
    examples=(
        example(
            Checked(unsupported=[2]),
            passages=[passage("Hollin Bridge", "Hollin Bridge was designed by Edda Rask and opened in 1852."), OSKEL],
            sentences=["Edda Rask designed Hollin Bridge [1].", "She was born near the Oskel [2]."],
        ),
    ),
)
