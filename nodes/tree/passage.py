"""A passage: a piece of a document, as a search found it."""

from typing import Any

from pydantic import Field

from ramify.nodes.tree.value import Value, kept_as


@kept_as("ramify.nodes.tree")
class Passage(Value):
    """A retrieved piece of a document."""

    id: str
    text: str
    source: str
    score: float
    """Cosine similarity to the question that found it, always."""
    value: float = 0.0
    """What MMR gave it when it was picked; the cosine where MMR was off."""
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name the document it is from."""
        return str(self.metadata.get("title", ""))

    @property
    def place(self) -> str:
        """Say where it stands: its source, with the page where it has one."""
        page = self.metadata.get("page")
        return self.source if page is None else f"{self.source}:{page}"

    def __str__(self) -> str:
        return f"{self.title or self.source}: {self.text}"
