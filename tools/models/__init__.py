"""Chat models by name: reached, capped, counted, and answering with values."""

from ramify.tools.models.model import Model, ModelOptions
from ramify.tools.models.named import forget, resolve
from ramify.tools.models.reply_parsing import Structured

__all__ = ["Model", "ModelOptions", "Structured", "forget", "resolve"]
