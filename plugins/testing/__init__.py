"""Tests of a corpus (`ramify test`), and checks of an answer that ask no model (`ramify verify`).

* `expectations` is the file of questions and of what must hold of their answers; `stored_results` is what is kept beside it
* `adding` makes expectations of answers that are right
* `running` asks what a change can touch; `differences` compares two results; `reports` shows them

`verify` checks an answer, and `Verification` is what it returns; they are in `verifying`, and imported when they are used. `commands` has
the commands.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.testing.verifying.checks import Verification
    from ramify.testing.verifying.verify import verify

__all__ = ["Verification", "verify"]
_MODULES = {"Verification": "ramify.testing.verifying.checks", "verify": "ramify.testing.verifying.verify"}


def __getattr__(name: str) -> Any:
    """Import what the package offers when it is used, so that the command line starts without it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
