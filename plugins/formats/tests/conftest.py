"""The command line, for tests of readers."""

from tests.studio.conftest import built, documents, nothing_allowed, nowhere, ollama, ramify

__all__ = ["built", "documents", "nothing_allowed", "nowhere", "ollama", "ramify"]
