"""How the answers of two sub-questions come together."""

from typing import Literal

How = Literal[
    "single",  # not to be split
    "bridge",  # the second question is asked with the first one's answer in it; its answer is the answer
    "agree",  # both ask for the same thing: what both give is the answer
    "earlier", "later", "more", "less",  # a date or number of each of two things: the answer is the name of one
    "before", "after", "exceeds",  # the same, but asked whether it is so
    "same", "differ",  # whether both answers are the same, or not
    "both", "either",  # two verdicts: whether both, or at least one, is Yes
    "which",  # two verdicts: the name of the thing of which alone it is Yes
]  # fmt: skip
