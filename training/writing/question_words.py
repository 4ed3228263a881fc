"""Words of questions: how they are cut, compared, and taken over from what was asked."""

import re
from collections import Counter
from collections.abc import Iterable

from training.writing.written import Written

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
    found = []
    for step in written.steps:
        for at, word in enumerate(tokens(step)):
            if word not in given and not (at == 0 and word.casefold() in lowered):
                found.append(word.casefold() if at == 0 else word)
    return found


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
