"""One piece of material for the writer: what is asked, and what is to be written; its words, and how people type it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Final

from plugins.embedded.training.example import Part, assign_part


@dataclass(frozen=True)
class Written:
    """A question, the turns before it, and what the writer should make of it."""

    source: str
    group: str
    question: str
    history: str
    how: str
    steps: tuple[str, ...]


def part(written: Written) -> Part:
    """Tell what an example is for: by its group, so that a text is never on two sides."""
    return assign_part(written.group)


TOKEN = re.compile(r"\{1\}|'s\b|’s\b|\w+|[^\w\s]")
_WORD = re.compile(r"\w+")


def several(text: str, sign: str | None = None) -> tuple[str, ...]:
    """Give the words, or the pieces between signs, of a list written out as a text."""
    return tuple(text.split(sign))


def tokens(text: str) -> list[str]:
    """Cut a text into words and signs."""
    return TOKEN.findall(text)


def words(text: str) -> list[str]:
    """Give the words of a text in lower case, without signs."""
    return _WORD.findall(text.casefold())


def fold(text: str) -> str:
    """Bring a text to its words in lower case."""
    return " ".join(words(text))


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]


def ask(text: str) -> str:
    """Write a text as a question: one space between words, a capital, a question mark."""
    bare = re.sub(r"\s+", " ", text).strip().rstrip("?!, ").strip()
    bare = re.sub(r"(?<=[a-z]{3})\.$|\s+\.$", "", bare)
    return capital(bare) + "?"


def others(written: Written) -> list[str]:
    """List the words of what is to be written that stand neither in the question nor in its history."""
    given = set(tokens(written.question)) | set(tokens(written.history))
    lowered = {word.casefold() for word in given}
    missing = []
    for step in written.steps:
        for at, word in enumerate(tokens(step)):
            if word not in given and not (at == 0 and word.casefold() in lowered):
                missing.append(word.casefold() if at == 0 else word)
    return missing


def recased(text: str, sources: Iterable[str]) -> str:
    """Write words as they stand in the sources, where they differ from them by case alone."""
    forms: dict[str, Counter[str]] = {}
    for source in sources:
        for word in tokens(source):
            forms.setdefault(word.casefold(), Counter())[word] += 1

    def form(match: re.Match[str]) -> str:
        known = forms.get(match[0].casefold())
        if match.start() == 0 or not known or match[0] in known:
            return match[0]
        return known.most_common(1)[0][0]

    return TOKEN.sub(form, text)


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
    match = _DIRECT.fullmatch(question)
    if not match or not match["rest"].startswith(subject):
        return None
    rest = match["rest"][len(subject) :].strip()
    opening = rng.choice(_ASKING)
    word = match["word"][0].casefold() + match["word"][1:]
    return f"{opening} {word} {subject} {match['be']} {rest}".strip() + ("?" if opening.startswith(("Can", "Do", "Could")) else ".")


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
