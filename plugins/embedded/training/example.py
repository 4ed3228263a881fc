"""A training example: a question, a context, and the expected answer."""

import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["span", "yes", "no", "none", ""]
CharSpan = tuple[int, int]
Part = Literal["train", "choose", "measure"]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Example:
    """A question, its context (`title: text`), and its answer: where the spans stand in it, or yes, no, none; "" if unknown.

    `bears`: whether the context is relevant to the question; None if unknown (a passage on the subject without the answer).
    """

    source: str
    group: str
    question: str
    context: str
    kind: Kind
    spans: tuple[CharSpan, ...] = ()
    bears: bool | None = None


def occurrences(answer: str, context: str) -> Iterator[CharSpan]:
    """Yield the occurrences of an answer as whole words in a context, ignoring case."""
    if not answer.strip():
        return
    for match in re.finditer(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", context, re.IGNORECASE):
        yield match.span()


def likeliest_span(question: str, context: str, spans: list[CharSpan]) -> CharSpan:
    """Return the occurrence with most of the question's words around it."""
    asked = set(_WORD.findall(question.casefold()))

    def near(span: CharSpan) -> int:
        around = context[max(0, span[0] - 120) : span[1] + 120]
        return len(asked & set(_WORD.findall(around.casefold())))

    return max(spans, key=near)


def shorten_context(example: Example, longest: int) -> Example:
    """Cut a context to a window of about `longest` characters around its first span; yes/no examples are unchanged."""
    if len(example.context) <= longest or example.kind not in ("span", "none"):
        return example
    (first, last), *_ = example.spans or ((0, 0),)
    room = max(0, longest - (last - first))
    begin = max(0, min(first - seeded_random(example.question, example.context).randint(0, room), len(example.context) - longest))
    begin = example.context.rfind(" ", 0, begin) + 1
    end = example.context.find(" ", max(begin + longest, last))
    end = end if end >= 0 else len(example.context)
    spans = tuple((one - begin, other - begin) for one, other in example.spans if begin <= one and other <= end)
    return replace(example, context=example.context[begin:end], spans=spans)


def seeded_random(*parts: object) -> random.Random:
    """Return a random generator seeded by these values, so that examples do not depend on the order of generation."""
    return random.Random(zlib.crc32("\x1f".join(map(str, parts)).encode()))


def assign_part(group: str) -> Part:
    """Return the part (train, choose, measure) of a group, such as the questions about one document."""
    share = zlib.crc32(group.encode()) % 100
    return "measure" if share < 10 else "choose" if share < 15 else "train"
