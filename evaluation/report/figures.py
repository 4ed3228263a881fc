"""The door to the plots: they are drawn with a library that only reports need."""

from importlib import import_module
from typing import Any

from ramify.tools.errors import UsageError


def drawn(name: str, *given: Any) -> str:
    """Draw a plot by its module and function; UsageError where the library is not installed."""
    module, _, function = name.partition(".")
    try:
        drawing = import_module(f"ramify.evaluation.report.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise UsageError("a report draws with matplotlib, which is not installed", "pip install 'ramify-rag[eval]'") from error
    svg: str = getattr(drawing, function)(*given)
    return svg
