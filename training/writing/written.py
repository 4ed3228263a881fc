"""One piece of material for the writer: what is asked, and what is to be written."""

import zlib
from dataclasses import dataclass
from typing import Literal

Part = Literal["train", "choose", "measure"]


@dataclass(frozen=True)
class Written:
    """A question, the turns before it, and what the writer should make of it."""

    source: str
    group: str
    question: str
    history: str
    how: str
    steps: tuple[str, ...]


def dealt(group: str) -> Part:
    """Tell what texts of a group are for."""
    share = zlib.crc32(group.encode()) % 100
    return "measure" if share < 10 else "choose" if share < 15 else "train"


def part(written: Written) -> Part:
    """Tell what an example is for: by its group, so that a text is never on two sides."""
    return dealt(written.group)
