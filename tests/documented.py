"""Output that a document shows against the real one: the same but for what a machine changes."""

import re
from itertools import zip_longest

NEAR = 0.02
"""By how much a measured figure may differ: bfloat16, float32 and the processor's way to add move its third digit."""
FIGURE = re.compile(r"\d+\.\d+")
SECONDS = re.compile(r"[\d.]+ s\b")
LOADING = re.compile(r",\s+including\s+[\d.]+\s+s\s+loading")
"""Said only where loading took a second and more."""


def differences(told: str, real: str) -> list[str]:
    """List where two outputs differ: by a word, a count, or a figure beyond `NEAR`; seconds and where lines are broken do not matter."""
    pairs = zip_longest(_words(told), _words(real), fillvalue="")
    return [f"{one!r} is {other!r}" for one, other in pairs if not _alike(one, other)]


def _words(text: str) -> list[str]:
    """List the words of a text; a line of a tree that was broken goes on behind the tree's bars."""
    return SECONDS.sub("0 s", LOADING.sub("", text)).replace("│", " ").split()


def _alike(one: str, other: str) -> bool:
    if FIGURE.sub("#", one) != FIGURE.sub("#", other):
        return False
    figures = zip(FIGURE.findall(one), FIGURE.findall(other), strict=True)
    return all(abs(float(here) - float(there)) <= NEAR for here, there in figures)
