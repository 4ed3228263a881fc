"""What a relation is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """What a question says when it asks for a relation, and what a text says that states it."""

    asked: str
    forms: tuple[str, ...]
