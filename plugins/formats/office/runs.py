"""Runs of text in one format: join them to a line, with raised and lowered digits apart from numbers, and leave out what is not valid."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from ramify.formats.raised import lowered, raised

HIDDEN, STRUCK, DELETED = "hidden passage", "struck passage", "deleted passage"
PLACEHOLDER = "placeholder of an empty field"
PAGE_LINE, UNSHOWN_MARGIN = "line with no more than the number of a page", "header or footer that no page shows"
DESCRIPTION, HIDDEN_SHAPE = "description of a picture", "hidden shape"
TICKS = {True: "[x]", False: "[ ]"}
SOFT_HYPHEN = "\u00ad"
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
    runs = [run for run in runs if run.text]
    if not any(run.position or run.left_out for run in runs):
        return "".join([run.text for run in runs]).replace(SOFT_HYPHEN, "")
    shown: list[Run] = []
    has_gap = False
    for (kind, position, is_note), group in groupby(runs, lambda run: (run.left_out, run.position, run.is_note)):
        text = "".join(run.text for run in group).replace(SOFT_HYPHEN, "")
        if not kind:
            text = text.lstrip(" ") if has_gap and (not shown or shown[-1].text[-1:].isspace()) else text
            shown.append(Run(text, position, is_note=is_note))
        elif text.strip():
            leave_out(kind, [text.strip()])
        has_gap = bool(kind)
    return _write(shown)


def _write(runs: Sequence[Run]) -> str:
    before = ""
    parts: list[str] = []
    for run, after in pairwise([*runs, Run("")]):
        text = run.text
        if run.position and text.strip():
            behind = "" if run.position < 0 < after.position else after.text
            body = raised(before, text, run.is_note, behind) if run.position > 0 else lowered(before, text, behind)
            text = f"{text[: len(text) - len(text.lstrip())]}{body}{text[len(text.rstrip()) :]}"
        parts.append(text)
        before = (before + text)[-_CONTEXT:]
    return "".join(parts)
