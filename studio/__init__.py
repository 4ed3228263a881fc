"""The doors people come in by."""

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
