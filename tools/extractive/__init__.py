"""A chat model with no language model in it: an encoder, spans and rules."""

from ramify.tools.extractive.language import objection
from ramify.tools.extractive.model import Extractive

__all__ = ["Extractive", "objection"]
