"""The command line, and documents to ask about."""

from tests.studio.conftest import built, documents, nothing_allowed, nowhere, ollama, ramify

__all__ = ["built", "documents", "nothing_allowed", "nowhere", "ollama", "ramify"]
