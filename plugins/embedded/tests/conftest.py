"""Fixtures of the command line."""

from tests.studio.conftest import nothing_allowed, nowhere, ramify

__all__ = ["nothing_allowed", "nowhere", "ramify"]
