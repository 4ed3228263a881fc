"""Words of a text."""

import re

_WORD = re.compile(r"\w+")


def word_count(text: str | None) -> int:
    """Count words."""
    return len(_WORD.findall(text)) if text else 0
