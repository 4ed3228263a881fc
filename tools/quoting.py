"""Text from documents and models as it may be shown: nothing in it invisible, on one line, cut to what matters."""

import re
from collections.abc import Callable
from typing import Any
from unicodedata import category

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What a terminal would take for a command, or could not show."""
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Controls (C0 without tab and line breaks, C1, bidirectional ones), characters without width or ink, and halves of characters."""
VISIBLE = re.compile(INVISIBLE.pattern.replace("[", r"[^\s", 1))
"""A character that leaves ink."""
ZWJ = "\u200d"
JOINERS = frozenset({"\xad", "\u200c", ZWJ})
"""Soft hyphen, zero-width non-joiner and joiner: between letters they belong to the word."""
VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Variation selectors: behind a character they choose its form."""
SNIPPET = 200
LONGEST_WORD, LONGEST_MESSAGE = 300, 1000
"""Characters of a message, and of one word in it, from which on its middle is left out."""
LONGEST_ANSWER = 200
"""Characters of an answer that go into another question; what is longer is no name, and may be an instruction."""


def invisible(text: str) -> list[int]:
    """List the places of the characters that a reader would not see, and that no word or emoji needs."""
    return [found.start() for found in INVISIBLE.finditer(text) if not _is_needed(text, found.start())]


def reveal(text: str, form: Callable[[str], str] = lambda character: f"⟨U+{ord(character):04X}⟩") -> str:
    """Write out the characters that a reader would not see, as ⟨U+202E⟩. For display only: places in the text move."""
    parts, end = [], 0
    for place in invisible(text):
        parts += [text[end:place], form(text[place])]
        end = place + 1
    return "".join([*parts, text[end:]])


def _is_needed(text: str, place: int) -> bool:
    """Return whether an invisible character is part of the text: a joiner between letters or emoji, a selector behind what it selects."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if VARIANTS.match(character):
        return bool(before) and not before.isspace() and not INVISIBLE.match(before)
    if character not in JOINERS or not before or not after:
        return False
    if character == ZWJ and category(after) == "So":  # an emoji of several; before it may stand a tone of skin, or a selector
        return category(before) in {"So", "Sk", "Mn"}
    return category(before)[0] in "LM" and category(after)[0] in "LM"


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in plain values."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: map_texts(one, change) for name, one in value.items()}
    return [map_texts(one, change) for one in value] if isinstance(value, (list, tuple)) else value


def one_line(message: object) -> str:
    """Put a text on one line to be shown: no character in it is invisible, and none can steer a terminal."""
    return reveal(" ".join(str(message).split()))


def flatten(text: object) -> str:
    """Put a text that is stored or compared on one line, with spaces for control characters."""
    return " ".join(CONTROL.sub(" ", str(text)).split())


def lines(message: object) -> list[str]:
    """Put each line of a text on one line, without the empty ones."""
    return [line for part in str(message).splitlines() if (line := one_line(part))]


def brief(text: object, longest: int) -> str:
    """Put a text on one line of at most so many characters."""
    line = flatten(text)
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def shortened(message: str) -> str:
    """Leave out the middle of what is longer than anybody reads, and escape what no encoding has: a message quotes what was typed."""
    text = message.encode(errors="backslashreplace").decode()
    return _without_middle(
        re.sub(rf"\S{{{LONGEST_WORD},}}", lambda word: _without_middle(word[0], LONGEST_WORD // 3), text), LONGEST_MESSAGE
    )


def _without_middle(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest * 2 // 3]}…{text[-longest // 3 :]}"


def snippet(text: str, answer: str, length: int = SNIPPET) -> str:
    """Quote the part of a text that holds the answer, else its beginning."""
    flat = flatten(text)
    found = flat.casefold().find(answer.casefold()) if answer.strip() else -1
    start = 0
    if found > length // 2:
        sentence = max((match.end() for match in re.finditer(r"[.!?]\s+", flat[:found])), default=0)
        start = sentence if found - sentence < length else found - length // 2
    end = start + length
    if end < len(flat):
        end = max(flat.rfind(" ", start, end), start + length // 2)
    return ("… " if start else "") + flat[start:end].strip() + (" …" if end < len(flat) else "")


def many(number: int, thing: str, things: str = "") -> str:
    """Count things in words."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
