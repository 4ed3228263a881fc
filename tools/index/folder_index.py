"""An index that lies in a folder, with the files that its kind has beside the passages."""

from pathlib import Path

from ramify.tools.index.index import Index
from ramify.tools.index.location import Folder
from ramify.tools.index.snapshot import Snapshot


class LocalIndex(Index):
    """An index of a kind that only a folder can hold."""

    @property
    def folder(self) -> Path:
        """Return its folder."""
        assert isinstance(self.home, Folder)  # no other place has a manifest of such a kind
        return self.home.path

    @property
    def snapshot(self) -> Snapshot:
        """Return the passages and vectors as they were when it was opened."""
        assert isinstance(self._held, Snapshot)
        return self._held
