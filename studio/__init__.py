"""The doors people come in by.

* the command line: it begins at `entry`, `cli` finds one of the `commands`; `console` is what lies between them and the terminal
* `notebook`, `mcp` and `server` (LangGraph Studio) are doors of their own
* what every door shows: `drawing` puts an answer and its tree, `inspection` an index
"""

from typing import TYPE_CHECKING, Any

from ramify.tools.errors import RamifyError

if TYPE_CHECKING:
    from ramify.studio.notebook import Chat

__all__ = ["Chat"]


def __getattr__(name: str) -> Any:
    """Load the notebook's chat when it is asked for: the other doors do without its widgets."""
    if name != "Chat":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from ramify.studio.notebook import Chat
    except ModuleNotFoundError as error:
        if error.name != "ipywidgets":
            raise
        raise RamifyError("the notebook's widgets are not installed", "run `pip install 'ramify-rag[notebook]'`") from error
    return Chat
