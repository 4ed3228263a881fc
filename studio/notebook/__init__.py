"""The `chat` in a notebook: its `panel` of settings, and `turn` by turn the answer beside the tree as it grows; `export` takes one away."""

from ramify.studio.notebook.chat import Chat

__all__ = ["Chat"]
