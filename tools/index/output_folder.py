"""The folder that an index is to be written to: whether it can be, and what is left of it when a build fails."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ramify.tools.errors import IndexingError, InputError, RamifyError
from ramify.tools.index.manifest import MANIFEST, NEXT, PASSAGES, VECTORS
from ramify.tools.index.publication import LOCK

_REMEDY = "give --out a folder of its own"
_OURS = (LOCK, PASSAGES, NEXT + PASSAGES)


def check_target(folder: Path, sources: Iterable[Path]) -> None:
    """Raise IndexingError where the folder is a file, the documents' own, or holds other files and no index."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise IndexingError(f"the index cannot be written to {str(folder)!r}: {str(place)!r} is a file", _REMEDY)
    if any(folder.resolve() == source.resolve() for source in sources):
        raise IndexingError(f"{str(folder)!r} is the folder of the documents", f"{_REMEDY}, such as {folder}-index")
    if not folder.is_dir() or any((folder / name).exists() for name in (MANIFEST, PASSAGES, VECTORS)):
        return
    if others := sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        raise IndexingError(
            f"{str(folder)!r} holds other files and no index ({', '.join(others[:3])})", f"{_REMEDY}: a new or an empty one"
        )


@contextmanager
def leaving_nothing(folder: Path) -> Iterator[None]:
    """Take away what a build has made that failed before its first vector; one with vectors, or interrupted, can be gone on with."""
    new_folders = [place for place in (folder, *folder.parents) if not place.exists()]
    new_files = [folder / name for name in _OURS if not (folder / name).exists()]
    try:
        yield
    except (RamifyError, OSError) as error:
        if not isinstance(error, InputError) and (folder / PASSAGES not in new_files or _holds_vectors(folder)):
            raise
        for path in new_files:
            path.unlink(missing_ok=True)
        for place in new_folders:
            with suppress(OSError):
                place.rmdir()
        raise


def _holds_vectors(folder: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{(folder / PASSAGES).absolute().as_uri()}?mode=ro", uri=True)) as passages:
            return passages.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        return False
