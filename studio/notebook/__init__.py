"""The `chat` in a notebook, each turn with its answer and growing tree, and the `panel` of settings."""

from ramify.studio.notebook._chat import Chat

__all__ = ["Chat"]
