"""The errors a user can meet; each says what happened and what to do.

RamifyError
├── UsageError    the call itself is wrong (exit code 2)
├── InputError    documents or a data set cannot be read
├── IndexingError an index is missing, damaged or of another embedding
├── PluginError   an installed package offers something to ramify that cannot be used
├── ModelError    a model cannot be reached, is missing or refuses access: the question ends
├── ReplyError    a model gave no usable reply in time: its branch fails alone
│   ├── MalformedError  the reply was malformed, also on the second attempt
│   └── WindowError     the prompt filled the context window and may have been truncated
└── BudgetError   a budget of the question is used up
"""

from copyreg import __newobj__  # type: ignore[attr-defined]  # missing from the stubs
from typing import Any, Literal

from ramify.tools.quoting import truncate_message
from ramify.tools.scrub import scrub

BudgetLimit = Literal["calls", "tokens", "seconds"]


class RamifyError(RuntimeError):
    """The base of all errors: `what` happened and its `remedy`; secrets are masked, long values shortened."""

    # A RuntimeError: LangGraph's server reports the messages of Python's built-in errors only, and hides all others.

    def __init__(self, what: str, remedy: str) -> None:
        self.what = truncate_message(scrub(what))
        self.remedy = truncate_message(scrub(remedy))
        super().__init__(f"{self.what} — {self.remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes, so that the error survives another process unchanged."""
        return __newobj__, (type(self), *self.args), self.__dict__


class UsageError(RamifyError):
    """The call itself is wrong: an unknown name, a value out of range, an empty question."""


class InputError(RamifyError):
    """Documents cannot be read: the path does not exist or contains nothing readable."""


class IndexingError(RamifyError):
    """An index is missing, damaged, half-written or made with another embedding."""


class PluginError(RamifyError):
    """What an installed package should offer is missing, cannot be imported, or is offered by several packages."""


class ModelError(RamifyError):
    """A model or encoder cannot be reached or is not installed."""


class ReplyError(RamifyError):
    """A model gave no usable reply: malformed after one retry, cut off, or too late."""


class MalformedError(ReplyError):
    """The model's reply was malformed, also on the second attempt."""


class WindowError(ReplyError):
    """The prompt filled the model's context window: it may have been truncated, and the reply is discarded."""


class BudgetError(RamifyError):
    """A budget of the question is used up."""

    def __init__(self, limit: BudgetLimit, allowed: float, after: str = "") -> None:
        """`after`: the error of the call that was to be repeated, if any."""
        what = f"the budget of {allowed:g} {limit} is used up" + (f", after a call that failed: {after}" if after else "")
        super().__init__(what, f"raise max_{limit} to let the tree grow further")
        self.limit: BudgetLimit = limit
        self.allowed = allowed
