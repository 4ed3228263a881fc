"""All functions of bytes that are fuzzed, by name."""

from tests.fuzz import frames, values
from tests.fuzz.values import Target

__all__ = ["TARGETS", "Target"]
TARGETS = {**values.TARGETS, **frames.TARGETS}
