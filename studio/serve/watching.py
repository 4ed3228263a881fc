"""Folders whose collections are kept in step with them while the server runs (`ramify serve --watch`)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ramify.studio.serve.questions import failure_of
from ramify.tools.errors import RamifyError
from ramify.tools.index import Index
from ramify.tools.index.build import Built
from ramify.tools.index.index_store import is_address
from ramify.tools.index.manifest import MANIFEST, PASSAGES
from ramify.tools.index.passage_store import listed_files
from ramify.tools.index.progress import Progress
from ramify.tools.index.watching import watch


class Watched:
    """A folder and the index that follows it: when it was last brought up to date, and what went wrong with it."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        self._updated: str | None = None
        self._problem = ""

    def prepare(self, progress: Progress) -> None:
        """Index the folder where that was never done: a question finds something from the beginning. Blocking."""
        if not (Path(self.where) / MANIFEST).exists():
            Index.build([self.folder], self.where, progress=progress)

    async def run(self) -> None:
        """Keep the index up to date until it is cancelled; an error that ends this is told in the list of collections."""
        try:
            await watch([self.folder], self.where, self._take)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            self._problem = failure_of(error).message

    def to_json(self) -> dict[str, Any]:
        """Describe it: the folder's name, the time of the last update, and what went wrong."""
        return {"folder": self.folder.name, "updated": self._updated, "problem": self._problem}

    def _take(self, told: Built | RamifyError) -> None:
        if isinstance(told, RamifyError):
            self._problem = str(told)
        else:
            self._updated, self._problem = datetime.now(UTC).isoformat(timespec="seconds"), ""


def watched(folders: Sequence[Path], indexes: Sequence[str], home: Path) -> list[Watched]:
    """Give each folder the index that was made of it alone, else one of its own below `home`. Blocking."""
    made = {root: where for where in indexes if (root := _made_of(where)) is not None}
    return [Watched(folder, made.get(folder) or _own(folder, home)) for folder in dict.fromkeys(one.resolve() for one in folders)]


def _made_of(where: str) -> Path | None:
    """Return the only folder that an index was made of; None where there is no index, or where there are several."""
    if is_address(where) or not (Path(where) / PASSAGES).exists():
        return None
    roots = {Path(file.root).resolve() for file in listed_files(Path(where)).files}
    return roots.pop() if len(roots) == 1 else None


def _own(folder: Path, home: Path) -> str:
    digest = sha256(bytes(folder)).hexdigest()[:12]
    return str(home / digest / (folder.name or "index"))
