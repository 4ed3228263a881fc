"""Text from documents and models as it may be shown: on one line, cut to what matters."""

import re

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What a terminal would take for a command, or could not show."""
SNIPPET = 200
LONGEST_WORD, LONGEST_MESSAGE = 300, 1000
"""Characters of a message, and of one word in it, from which on its middle is left out."""
LONGEST_ANSWER = 200
"""Characters of an answer that go into another question; what is longer is no name, and may be an instruction."""


def one_line(message: object) -> str:
    """Put a text on one line: no word from a document or a model may steer the terminal."""
    return " ".join(CONTROL.sub(" ", str(message)).split())


def lines(message: object) -> list[str]:
    """Put each line of a text on one line, without the empty ones."""
    return [line for part in str(message).splitlines() if (line := one_line(part))]


def brief(text: object, longest: int) -> str:
    """Put a text on one line of at most so many characters."""
    line = one_line(text)
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
    flat = one_line(text)
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
