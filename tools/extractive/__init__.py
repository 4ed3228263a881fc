"""A chat model with no language model in it: an encoder, spans and rules."""

from ramify.tools.extractive.model import Extractive
from ramify.tools.extractive.text import objection, reads

__all__ = ["Extractive", "objection", "reads"]
