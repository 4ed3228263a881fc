"""How likely the tokens of a fake's reply are: those that spell the measured value as told, all others quite otherwise.

So a confidence that is read from any other tokens, or from some of them, is seen to be wrong.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ELSEWHERE = math.log(0.03)
MEASURED = {
    "contextualize": "question",
    "filter": "relevance",
    "judge": "sufficiency",
    "next_question": "question",
    "next_thought": "sentence",
    "plan": "primary",
    "rubric": "verdict",
}
"""The field whose confidence counts, by prompt; of all others it is the answer."""


def likelihoods(tokens: Iterable[str], span: tuple[int, int], inside: float) -> Iterator[tuple[str, float]]:
    """Give each token of a text its log probability: `inside` where it holds a character of the span."""
    position = 0
    for token in tokens:
        end = position + len(token)
        yield token, inside if position < span[1] and end > span[0] else ELSEWHERE
        position = end


def value_span(reply: Mapping[str, Any] | str, field: str, **form: Any) -> tuple[int, int]:
    """Tell where the value of a field stands in a reply written as JSON, quotes left out; nowhere where there is none."""
    if isinstance(reply, str) or field not in reply:
        return (0, 0)
    names = list(reply)
    before = {name: reply[name] for name in names[: names.index(field)]}
    quoted = isinstance(reply[field], str)
    start = len(json.dumps({**before, field: "" if quoted else 0}, **form)) - 2
    return start, start + len(json.dumps(reply[field], **form)) - 2 * quoted
