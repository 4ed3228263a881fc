"""What agents of others are given beside the tools of the core.

* `grounded` is middleware for LangChain's agents: `Grounded` holds a final message to `grounds`, quotations that say each sentence;
  `message` takes one apart
* `matching` finds exact strings and `patterns` in an index: `grep`, and `grep_tool`
* `sentences` tells where sentences begin and end, `markdown` escapes texts for programs that show Markdown
* `skills/ramify` is a skill, a folder to copy: when to ask, how to read an answer and how to cite it

`commands` has the command `ramify grep`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.agents.grounded import Grounded
    from ramify.agents.matching import grep, grep_tool

__all__ = ["Grounded", "grep", "grep_tool"]
_MODULES = {"Grounded": "ramify.agents.grounded", "grep": "ramify.agents.matching", "grep_tool": "ramify.agents.matching"}


def __getattr__(name: str) -> Any:
    """Import what the package offers when it is used, so that the command line starts without it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
