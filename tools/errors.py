"""The errors a user can meet; each says what happened and what to do.

RamifyError
├── UsageError    the call itself is wrong (exit code 2)
├── InputError    documents or a data set cannot be used
├── IndexingError an index is missing, damaged or of another embedding
├── ModelError    a model cannot be reached, is missing or refuses access: the question ends
├── ReplyError    a model gave no usable reply in time: its branch fails alone
│   ├── MalformedError  it did reply, and badly, also when asked again
│   └── WindowError     the prompt filled its window, and part of it may not have been read
└── BudgetError   a budget of the question is used up
"""

from copyreg import __newobj__  # type: ignore[attr-defined]  # missing from the stubs
from typing import Any, Literal

from ramify.tools.quoting import shortened
from ramify.tools.scrub import scrub

Limit = Literal["calls", "tokens", "seconds"]


class RamifyError(RuntimeError):
    """Carry what happened and its remedy, without the secrets that servers repeat and addresses hold; of a huge value its ends."""

    # A RuntimeError: LangGraph's server tells the message of errors of Python's own kinds only, and hides all others.

    def __init__(self, what: str, remedy: str) -> None:
        self.what = shortened(scrub(what))
        self.remedy = shortened(scrub(remedy))
        super().__init__(f"{self.what} — {self.remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Come out of another process as it was, not made anew from its message."""
        return __newobj__, (type(self), *self.args), self.__dict__


class UsageError(RamifyError):
    """The call itself is wrong: an unknown name, a value out of range, an empty question."""


class InputError(RamifyError):
    """Documents cannot be read: no such path, nothing readable in it."""


class IndexingError(RamifyError):
    """An index is missing, damaged, half-written or made with another embedding."""


class ModelError(RamifyError):
    """A model or encoder cannot be reached or is not installed."""


class ReplyError(RamifyError):
    """No usable reply came: malformed even after one repair, cut off, or not in time."""


class MalformedError(ReplyError):
    """The model did reply, and badly, also when asked again."""


class WindowError(ReplyError):
    """The prompt filled the model's window: part of it may not have been read, and the reply is not used."""


class BudgetError(RamifyError):
    """A budget of the question is used up."""

    def __init__(self, limit: Limit, allowed: float, after: str = "") -> None:
        """`after` tells of the call that failed, where it was to be made once more."""
        what = f"the budget of {allowed:g} {limit} is used up" + (f", after a call that failed: {after}" if after else "")
        super().__init__(what, f"raise max_{limit} to let the tree grow further")
        self.limit: Limit = limit
        self.allowed = allowed
