"""A chat model with no language model in it: an encoder, small trained networks and arithmetic."""

from ramify.tools.extractive.language import objection
from ramify.tools.extractive.model import Extractive

__all__ = ["Extractive", "objection"]
