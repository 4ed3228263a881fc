"""The `chat` in a notebook: each turn with answer and growing tree, and its `panel` of settings."""

from ramify.studio.notebook._chat import Chat

__all__ = ["Chat"]
