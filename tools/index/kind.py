"""What an index can have beside its passages, such as a graph: a package offers it in the entry-point group `ramify.kinds`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify.tools.index.build import IndexStore
from ramify.tools.index.index import Index


class Kind(ABC):
    """A kind of index: how it is opened, and how it is built above the passages of a folder. All methods block."""

    @abstractmethod
    def open(self, store: IndexStore) -> Index:
        """Open an index of this kind."""

    @abstractmethod
    def check(self, options: Mapping[str, Any]) -> None:
        """Raise UsageError for settings that are unknown or not valid."""

    @abstractmethod
    def build(self, folder: Path) -> None:
        """Build it with the default settings, which call no language model."""

    @abstractmethod
    def command(self, folder: Path, options: dict[str, Any], group_by: Sequence[str] | None, renew: bool) -> None:
        """Build or update it, and print the result, as `ramify index --kind` does; `renew`: also what has not changed is clustered."""
