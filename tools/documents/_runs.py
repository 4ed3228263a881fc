"""Runs of text in one format: join them to a line, with raised and lowered digits apart from numbers, and leave out what is not valid."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import NamedTuple

from ramify.tools.documents._raised import lowered, raised

HIDDEN, STRUCK = "hidden passage", "struck passage"
_CONTEXT = 64
"""Characters before a raised text that decide what it is."""


class Run(NamedTuple):
    """Text in one format: raised (1), lowered (-1) or neither, and as what it is left out, such as a "struck passage"."""

    text: str
    position: int = 0
    left_out: str = ""
    is_note: bool = False


def join_runs(runs: Iterable[Run], leave_out: Callable[[str, Iterable[str]], None]) -> str:
    """Return the text of runs that are read; those left out are passed to `leave_out`."""
    shown: list[Run] = []
    for (kind, position, is_note), group in groupby(
        (run for run in runs if run.text), lambda run: (run.left_out, run.position, run.is_note)
    ):
        text = "".join(run.text for run in group)
        if not kind:
            shown.append(Run(text, position, is_note=is_note))
        elif text.strip():
            leave_out(kind, [text.strip()])
    written = ""
    parts: list[str] = []
    for place, run in enumerate(shown):
        text = run.text
        if run.position and text.strip():
            after = shown[place + 1].text if place + 1 < len(shown) else ""
            body = raised(written, text, run.is_note, after) if run.position > 0 else lowered(written, text, after)
            text = f"{text[: len(text) - len(text.lstrip())]}{body}{text[len(text.rstrip()) :]}"
        parts.append(text)
        written = (written + text)[-_CONTEXT:]
    return "".join(parts)
