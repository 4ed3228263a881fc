"""Values put together on request: dates by their year, month or day, numbers by steps; `date:month`, `hours:100`."""

import re
from collections.abc import Callable, Iterable
from math import floor
from typing import NamedTuple

from ramify.tools.errors import UsageError

MARK = ":"
_DATE = re.compile(r"(\d{4})[-/.]?(0[1-9]|1[0-2])[-/.]?(0[1-9]|[12]\d|3[01])(?!\d)|(\d{4})[-/.](0[1-9]|1[0-2])(?![-/.]?\d)|(\d{4})(?!\d)")
_PARTS = {"year": 1, "month": 2, "day": 3}
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


class Binned(NamedTuple):
    """A field, and how its values are put together."""

    field: str
    by: str = ""

    def values(self, written: Iterable[str]) -> tuple[str, ...]:
        """Write what each value belongs to; one that is no date, or no number, is left out."""
        if not self.by:
            return tuple(written)
        cut = _by_steps(float(self.by)) if self.steps else _by_date(_PARTS[self.by])
        return tuple(dict.fromkeys(filter(None, map(cut, written))))

    @property
    def steps(self) -> bool:
        """Tell whether numbers are put together, not dates."""
        return bool(self.by) and self.by not in _PARTS


def binned(name: str, known: Iterable[str]) -> Binned:
    """Read `FIELD`, or `FIELD:BY`; UsageError for another way to put values together."""
    field, mark, by = name.rpartition(MARK)
    if not mark or name in known:
        return Binned(name)
    if by not in _PARTS and not (_NUMBER.fullmatch(by) and float(by) > 0):
        remedy = f"write {field}:year, {field}:month, {field}:day, or {field}:100 for steps of 100"
        raise UsageError(f"values of {field!r} cannot be put together by {by!r}", remedy)
    return Binned(field, by)


def _by_date(parts: int) -> Callable[[str], str]:
    """Cut an ISO date, with or without hyphens, to its year, month or day; one that says less is none."""

    def cut(value: str) -> str:
        found = _DATE.match(value)
        said = [part for part in found.groups() if part] if found else []
        return "-".join(said[:parts]) if len(said) >= parts else ""

    return cut


def _by_steps(step: float) -> Callable[[str], str]:
    def cut(value: str) -> str:
        if not _NUMBER.fullmatch(value):
            return ""
        low = floor(float(value) / step) * step
        return f"{low:g} to {low + step:g}"

    return cut
