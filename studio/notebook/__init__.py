"""The `chat` in a notebook: its `panel` of settings, each `turn` with answer and growing tree, and their `export`."""

from ramify.studio.notebook.chat import Chat

__all__ = ["Chat"]
