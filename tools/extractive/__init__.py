"""A chat model with no language model in it: an encoder, small trained networks and arithmetic."""

from ramify.tools.extractive.model import Extractive
from ramify.tools.extractive.question_kinds import objection

__all__ = ["Extractive", "objection"]
