"""What a question has cost so far, and what form the replies had."""

from typing import Any

from pydantic import Field

from ramify.nodes.tree import Value, kept_as


class Replies(Value):
    """How many replies to one prompt had the form asked for."""

    valid: int = 0
    """At once."""
    repaired: int = 0
    """When asked again, having been told what was wrong."""
    malformed: int = 0
    """Not even then."""

    def __add__(self, other: "Replies") -> "Replies":
        return Replies(**{name: getattr(self, name) + getattr(other, name) for name in Replies.model_fields})


NONE = Replies()


@kept_as("ramify.nodes.state")
class Usage(Value):
    """What a question has cost so far."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retrievals: int = 0
    critical_path_calls: int = 0
    """Calls made one after another: over steps, the most within one task of the step."""
    replies: dict[str, Replies] = Field(default_factory=dict)
    """What form the replies had, by the name of the prompt."""

    def __add__(self, other: "Usage") -> "Usage":
        counts = {name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields if name != "replies"}
        names = dict.fromkeys((*self.replies, *other.replies))
        return Usage(**counts, replies={name: self.replies.get(name, NONE) + other.replies.get(name, NONE) for name in names})

    @property
    def tokens(self) -> int:
        """Sum prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


def spend(usage: Any, more: Any) -> Usage:
    """Add what a step spent."""
    return Usage.model_validate(usage or {}) + Usage.model_validate(more or {})
