"""How people type: without capitals, without a question mark, with a word of courtesy."""

import re
from random import Random
from typing import Final

from training.writing.question_words import ask, capital
from training.writing.written import Written

_ASKING: Final = (
    "Can you tell me",
    "Do you know",
    "Could you tell me",
    "I want to know",
    "Please tell me",
    "Tell me",
    "I would like to know",
    "I'd like to know",
)
_COURTESY: Final = (
    "Please tell me: {q}",
    "Quick question: {q}",
    "Hi, {q}",
    "Hello! {q}",
    "{q} Thanks!",
    "I need to know this: {q}",
    "One question: {q}",
)
_DIRECT = re.compile(
    r"(?P<word>When|Where|Who|What|Which \w+|What \w+|How \w+|In which \w+|In what \w+) (?P<be>is|was|are|were) (?P<rest>.+)\?"
)


def indirect(question: str, subject: str, rng: Random) -> str | None:
    """Ask indirectly ("Can you tell me when X was born?"), where it is plain what the subject is."""
    found = _DIRECT.fullmatch(question)
    if not found or not found["rest"].startswith(subject):
        return None
    rest = found["rest"][len(subject) :].strip()
    opening = rng.choice(_ASKING)
    word = found["word"][0].casefold() + found["word"][1:]
    return f"{opening} {word} {subject} {found['be']} {rest}".strip() + ("?" if opening.startswith(("Can", "Do", "Could")) else ".")


def typed(written: Written, rng: Random) -> Written:
    """Write an example as it may be typed; what is to be copied changes with it."""
    question, steps, share = written.question, written.steps, rng.random()
    if share < 0.12:
        question = question.casefold()
        steps = tuple(capital(step.casefold()) for step in steps)
    if rng.random() < (0.6 if share < 0.12 else 0.06):
        question = question.rstrip("?")
    elif share > 0.97:
        question = rng.choice(_COURTESY).replace("{q}", question)
    return Written(written.source, written.group, question, written.history, written.how, steps)


def one(question: str, source: str, group: str) -> Written:
    """Make an example of a question that is not to be split."""
    return Written(source, group, question, "", "single", ())


def two(question: str, first: str, second: str, source: str, group: str, how: str = "bridge") -> Written:
    """Make an example of a question that is to be split in two."""
    return Written(source, group, ask(question), "", how, (ask(first), ask(second)))
