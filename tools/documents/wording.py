"""How readers write names and numbers, and count words."""

import re
from collections.abc import Sequence
from itertools import groupby

_WORD = re.compile(r"\w+")


def anchor(heading: str) -> str:
    """Turn a heading into what can stand behind a `#`."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def numbers(found: Sequence[int]) -> str:
    """Write ascending numbers with runs drawn together: `1, 4-7`."""
    runs = (list(run) for _, run in groupby(enumerate(found), key=lambda pair: pair[1] - pair[0]))
    return ", ".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


def word_count(text: str | None) -> int:
    """Count words."""
    return len(_WORD.findall(text)) if text else 0
