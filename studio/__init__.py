"""User interfaces.

* the command line: `entry` starts it, `cli` dispatches to `commands`; `console` has terminal input and output
* `notebook`, and `server` for LangGraph Studio
* shared by all: `drawing` displays an answer and its tree
"""

from typing import TYPE_CHECKING, Any

from ramify.tools.errors import RamifyError

if TYPE_CHECKING:
    from ramify.studio.notebook import Chat

__all__ = ["Chat"]


def __getattr__(name: str) -> Any:
    """Import the notebook's chat on first use: only it needs ipywidgets."""
    if name != "Chat":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ramify.studio.notebook import Chat
    except ModuleNotFoundError as error:
        if error.name != "ipywidgets":
            raise
        raise RamifyError("the notebook's widgets are not installed", "run `pip install 'ramify-rag[notebook]'`") from error
    return Chat
