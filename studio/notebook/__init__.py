"""The `chat` in a notebook: each turn with answer and growing tree, its `panel` of settings, and `reviewing` of what is proposed."""

from ramify.studio.notebook._chat import Chat

__all__ = ["Chat"]
