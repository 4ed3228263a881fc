"""The prompts of an evaluation, one per file: `prefer` and `propose`."""

from ramify.lab.prompts.prefer import PREFER
from ramify.lab.prompts.propose import PROPOSE

__all__ = ["PREFER", "PROPOSE"]
