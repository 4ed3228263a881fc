"""A splitter and a reader that know a few questions, for tests of what is made of what they say."""

from collections.abc import Mapping, Sequence

import pytest

from ramify.embedded.arithmetic import Combination
from ramify.embedded.extractive import questions
from ramify.embedded.reader import reading, short_answers
from ramify.embedded.reader.reading import PassageReading, Reader, TextSpan
from ramify.embedded.splitting import Split
from ramify.tools.english import content_stems

SURE, UNLIKELY, BEARS = 0.999, 1e-5, 0.9


def split(how: Combination, first: str = "", second: str = "", sure: float = 0.9) -> Split:
    return Split(how, first, second, sure)


def give_mind(
    patch: pytest.MonkeyPatch, splits: Mapping[str, Sequence[Split]] | None = None, facts: Mapping[str, str] | None = None
) -> None:
    """Let questions be split as told, and be answered as told in the contexts that say so; any other is single and has no answer."""

    def fake_splits(question: str) -> tuple[Split, ...]:
        return tuple((splits or {}).get(question, (split("single"),)))

    def fake_read(question: str, context: str, reader: Reader) -> PassageReading:
        return _told(question, (facts or {}).get(question, ""), context)

    for module in (questions, short_answers):
        patch.setattr(module, "find_splits", fake_splits)
    patch.setattr(reading, "read_context", fake_read)


def _told(question: str, answer: str, context: str) -> PassageReading:
    about = len(content_stems(question) & content_stems(context)) > 1
    if answer in ("Yes", "No") and about:
        yes, no = (SURE, UNLIKELY) if answer == "Yes" else (UNLIKELY, SURE)
        return PassageReading(UNLIKELY, yes, no, (), BEARS)
    start = context.find(answer) if answer else -1
    if start < 0:
        return PassageReading(UNLIKELY, UNLIKELY, UNLIKELY, ())
    return PassageReading(SURE, UNLIKELY, UNLIKELY, (TextSpan(start, start + len(answer), SURE),), BEARS)
