"""Halves of characters: JSON can write them, and neither UTF-8 nor SQLite can."""

import re

BROKEN = "\ufffd"
"""Stands for what is no whole character."""
HALF = re.compile("[\ud800-\udfff]")
ESCAPES = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)
"""The escapes of a JSON text one by one, a pair of halves as one; the group is a half alone."""


def whole(text: str) -> str:
    """Join the halves that make a character, and replace each that stands alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if HALF.search(text) else text


def whole_escapes(text: str) -> str:
    """Replace each half that stands alone as an escape in a JSON text; nothing changes its place."""
    return ESCAPES.sub(lambda escape: r"\ufffd" if escape[1] else escape[0], text)
