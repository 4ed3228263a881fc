"""Prepare untrusted text for display: escape invisible characters, join lines, truncate."""

import re
from collections.abc import Callable
from typing import Any
from unicodedata import category

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that a terminal would interpret, or cannot show."""
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Control characters (C0 without tab and line breaks, C1, bidirectional), invisible characters and lone surrogates."""
VISIBLE = re.compile(INVISIBLE.pattern.replace("[", r"[^\s", 1))
"""A visible character."""
_SEPARATORS, _SEPARATORS_TEXT = r"[/\\]+", "/\\"
_QUOTED_PATH = re.compile(r"(['\"`])((?:~|[A-Za-z]:)?[/\\][^'\"`\n]+)\1")
_BARE_PATH = re.compile(r"(?<![\w/\\.~-])(?:~|[A-Za-z]:)?[/\\][^\s'\"`/\\,;:()]+(?:[/\\]+[^\s'\"`/\\,;:()]+)+")
"""An absolute path, in quotes or without spaces and with a folder: not part of an address, a word or another path."""
ZWJ = "\u200d"
JOINERS = frozenset({"\xad", "\u200c", ZWJ})
"""Soft hyphen, zero-width non-joiner and joiner: they are part of a word if between letters."""
VARIATION_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Variation selectors, which choose the form of the character before them."""
SNIPPET_CHARS = 200
MAX_WORD_CHARS, MAX_MESSAGE_CHARS = 300, 1000
"""Longer words and messages are truncated in the middle."""
MAX_ANSWER_CHARS = 200
"""Longer answers are not filled into other questions: they are not names, and may be instructions."""


def find_invisible(text: str) -> list[int]:
    """List the positions of invisible characters that are not part of a word or emoji."""
    return [match.start() for match in INVISIBLE.finditer(text) if not _is_needed(text, match.start())]


def escape_invisible(text: str, form: Callable[[str], str] = lambda character: f"⟨U+{ord(character):04X}⟩") -> str:
    """Return the text with invisible characters escaped as ⟨U+202E⟩. For display only, since offsets change."""
    parts, end = [], 0
    for place in find_invisible(text):
        parts += [text[end:place], form(text[place])]
        end = place + 1
    return "".join([*parts, text[end:]])


def _is_needed(text: str, place: int) -> bool:
    """Return whether an invisible character is part of the text: a joiner between letters or emoji, a selector after a visible one."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if VARIATION_SELECTORS.match(character):
        return bool(before) and not before.isspace() and not INVISIBLE.match(before)
    if character not in JOINERS or not before or not after:
        return False
    if character == ZWJ and category(after) == "So":  # an emoji of several; before it may stand a tone of skin, or a selector
        return category(before) in {"So", "Sk", "Mn"}
    return category(before)[0] in "LM" and category(after)[0] in "LM"


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply a function to every string in nested dicts, lists and tuples."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: map_texts(item, change) for name, item in value.items()}
    return [map_texts(item, change) for item in value] if isinstance(value, (list, tuple)) else value


def one_line(message: object) -> str:
    """Return a text on one line for display, with invisible and control characters escaped."""
    return escape_invisible(" ".join(str(message).split()))


def hide_folders(text: str) -> str:
    """Return a message with each absolute path in it shortened to its last part; addresses of servers are not changed."""
    text = _QUOTED_PATH.sub(lambda match: f"{match[1]}{re.split(_SEPARATORS, match[2].rstrip(_SEPARATORS_TEXT))[-1]}{match[1]}", text)
    return _BARE_PATH.sub(lambda match: re.split(_SEPARATORS, match[0].rstrip(_SEPARATORS_TEXT))[-1], text)


def collapse_whitespace(text: object) -> str:
    """Return a text on one line for storage and comparison: control characters and white space become single spaces."""
    return " ".join(CONTROL.sub(" ", str(text)).split())


def nonempty_lines(message: object) -> list[str]:
    """Return the non-empty lines of a text, each prepared by `one_line`."""
    return [line for part in str(message).splitlines() if (line := one_line(part))]


def truncate_line(text: object, max_chars: int) -> str:
    """Return a text on one line of at most `max_chars` characters."""
    line = collapse_whitespace(text)
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def truncate_message(message: str) -> str:
    """Return a message with long words and long text truncated in the middle, and lone surrogates escaped."""
    text = message.encode(errors="backslashreplace").decode()
    return _truncate_middle(
        re.sub(rf"\S{{{MAX_WORD_CHARS},}}", lambda word: _truncate_middle(word[0], MAX_WORD_CHARS // 3), text), MAX_MESSAGE_CHARS
    )


def _truncate_middle(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars * 2 // 3]}…{text[-max_chars // 3 :]}"


def snippet(text: str, answer: str, length: int = SNIPPET_CHARS) -> str:
    """Return the part of a text that contains the answer, else its beginning, in at most `length` characters."""
    flat = collapse_whitespace(text)
    place = flat.casefold().find(answer.casefold()) if answer.strip() else -1
    start = 0
    if place > length // 2:
        sentence = max((match.end() for match in re.finditer(r"[.!?]\s+", flat[:place])), default=0)
        start = sentence if place - sentence < length else place - length // 2
    end = start + length
    if end < len(flat):
        end = max(flat.rfind(" ", start, end), start + length // 2)
    return ("… " if start else "") + flat[start:end].strip() + (" …" if end < len(flat) else "")


def pluralize(number: int, thing: str, things: str = "") -> str:
    """Return a number with its noun in the right form: "1 file", "2,000 files"."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
