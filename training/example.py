"""One piece of training material: a question, a text to read it from, and what the reader should say."""

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
    """A question, its context (`title: text`), and its answer: where the spans stand in it, or yes, no, none; "" where nobody says.

    `bears`: whether the context bears on the question; None where that is not known (a passage on the subject that lacks the answer).
    """

    source: str
    group: str
    question: str
    context: str
    kind: Kind
    spans: tuple[CharSpan, ...] = ()
    bears: bool | None = None


def occurrences(answer: str, context: str) -> Iterator[CharSpan]:
    """Find an answer as whole words in a context, whatever its case."""
    if not answer.strip():
        return
    for match in re.finditer(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", context, re.IGNORECASE):
        yield match.span()


def likeliest_span(question: str, context: str, spans: list[CharSpan]) -> CharSpan:
    """Choose the occurrence with most of the question's words around it: offsets in the data name only the first one."""
    asked = set(_WORD.findall(question.casefold()))

    def near(span: CharSpan) -> int:
        around = context[max(0, span[0] - 120) : span[1] + 120]
        return len(asked & set(_WORD.findall(around.casefold())))

    return max(spans, key=near)


def shorten_context(example: Example, longest: int) -> Example:
    """Cut a context to a window of about so many characters that holds its first span, at words; other kinds keep all of theirs."""
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
    """Make a random source that depends on these words alone, so that material does not depend on the order it is made in."""
    return random.Random(zlib.crc32("\x1f".join(map(str, parts)).encode()))


def assign_part(group: str) -> Part:
    """Tell what the texts of a group, such as the questions about a document, are for."""
    share = zlib.crc32(group.encode()) % 100
    return "measure" if share < 10 else "choose" if share < 15 else "train"
