"""Split questions and complete follow-ups with the trained writer; what was written is kept, so the same question is split the same way."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

from ramify.tools.arithmetic.combine import How
from ramify.tools.folded_text import fold
from ramify.tools.splitting.weights import load_pen

SINGLE: Final = "single"
_KEPT = 4096
_LONGEST = 600
"""Characters of a question that are read; what is asked comes last."""
_FLUENT = -0.15
"""Mean log probability of a word; below it the writer is lost, and what was asked says more."""
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Split:
    """A way to split a question: two questions, how their answers are brought together, and how likely it is the right way."""

    how: How
    first: str
    second: str
    sure: float


@lru_cache(maxsize=_KEPT)
def splits(question: str) -> tuple[Split, ...]:
    """Give the ways to split a question, the likeliest first; `single` is the one not to."""
    with _ONE_AT_A_TIME:
        replies = load_pen().splits(question[-_LONGEST:])
    made = []
    for reply in replies:
        if reply.kind == SINGLE:
            made.append(Split(SINGLE, "", "", reply.sure))
        elif len(reply.questions) == 2 and fold(reply.questions[0]) != fold(reply.questions[1]):
            made.append(Split(cast(How, reply.kind), *reply.questions, reply.sure))
    return tuple(made) or (Split(SINGLE, "", "", 1.0),)


def rewrite(question: str, turns: Sequence[str]) -> str:
    """Write a follow-up such that it stands without the turns before it, the oldest first; as it is where there are none."""
    return _rewritten(question, tuple(turns)) if turns else question


@lru_cache(maxsize=_KEPT)
def _rewritten(question: str, turns: tuple[str, ...]) -> str:
    with _ONE_AT_A_TIME:
        reply = load_pen().rewrite(question[-_LONGEST:], "\n".join(turns))
    sound = bool(reply.questions) and reply.fluency >= _FLUENT and bool(reply.questions[0].strip(" ?."))
    return reply.questions[0] if sound else question
