"""Work, counted: how it grows with what is given, whatever else the machine does."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def instructions(do: Callable[[], object]) -> int:
    """Count the Python instructions that ramify's own code takes for something."""
    count = 0

    def counted(frame: FrameType, event: str, given: Any) -> Any:
        nonlocal count
        count += event == "opcode"
        return counted

    def entered(frame: FrameType, event: str, given: Any) -> Any:
        if not str(frame.f_globals.get("__name__")).startswith("ramify."):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return counted

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        do()
    finally:
        sys.settrace(before)
    return count


def growth(do: Callable[[int], object], size: int) -> float:
    """Return how many times the work is for four times the size: 4 where it is linear, 16 where it is quadratic."""
    return instructions(lambda: do(4 * size)) / instructions(lambda: do(size))
