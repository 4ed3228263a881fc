"""A frozen value; and the name under which one is kept in a checkpoint."""

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

V = TypeVar("V", bound=type)


class Value(BaseModel):
    """A frozen value."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def kept_as(package: str) -> Callable[[V], V]:
    """Name a class by the package that it is imported from, whichever file of it the class lies in.

    A checkpoint names the classes of its values by module, and programs list those that may be read back so. Checkpoints of users, theirs
    and ours, say `ramify.nodes.tree`, `ramify.nodes.state` and `ramify.nodes.citation`: a file in there may be renamed, these may not.
    """

    def named(value: V) -> V:
        value.__module__ = package
        return value

    return named
