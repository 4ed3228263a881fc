"""The folder of an index: what lies there, whether it can be written to, by one writer at a time, and what a failed build leaves in it."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path

from ramify.tools.documents.files import files_in
from ramify.tools.documents.readers import reader_of
from ramify.tools.errors import IndexingError, InputError, RamifyError
from ramify.tools.index.manifest import CHECKED, MANIFEST, NEXT, PASSAGES, STRUCTURE, VECTORS, WORDS, Manifest, read_manifest, repair_remedy
from ramify.tools.new_files import make_file, make_folder, remedy_for, share

LOCK = ".writing"
_PATIENCE_S = 0.5
"""A reader that looks whether somebody writes holds the lock for a moment."""
_COUNTING_S = 1.0
"""What a reader waits for a writer that commits, to count what it has written."""
_LOOKED_AT = 10_000
"""Files that are looked at to find out whether a folder holds documents."""
_REMEDY = "give --out a folder of its own"
_OWN_FILES = (LOCK, PASSAGES, NEXT + PASSAGES)


def manifest_of(folder: Path) -> Manifest:
    """Read the manifest of a finished index; IndexingError where there is none."""
    manifest = read_manifest(folder / MANIFEST)
    if manifest is None:
        raise missing_index(folder)
    return manifest


def missing_index(folder: Path) -> IndexingError:
    """Return the error for a folder without an index: being written, half-written, documents, or nothing."""
    where = repr(str(folder))
    if is_being_written(folder):
        return IndexingError(f"the index in {where} is being written{_count_written(folder)}", "wait until it has finished")
    if any((folder / name).exists() for name in (PASSAGES, VECTORS, NEXT + PASSAGES)):
        return IndexingError(f"the index in {where} is half-written", repair_remedy(folder))
    files = [folder] if folder.is_file() else files_in(folder, [])
    if any(reader_of(path) for path in islice(files, _LOOKED_AT)):
        made, what = folder.parent / f"{folder.stem}-index", "is a document" if folder.is_file() else "holds documents"
        return IndexingError(f"{where} {what}, not an index", f"make one of it: `ramify index {folder} --out {made}`")
    if folder.is_file():
        return IndexingError(f"{where} is a file, not the folder of an index", f"make one: `ramify index PATH… --out {folder}-index`")
    return IndexingError(f"there is no index in {where}", f"make one: `ramify index PATH… --out {folder}`")


def _count_written(folder: Path) -> str:
    """Return how many passages are committed, "" while a commit is under way."""
    try:
        with closing(sqlite3.connect(f"{(folder / PASSAGES).absolute().as_uri()}?mode=ro", uri=True, timeout=_COUNTING_S)) as passages:
            return f": {passages.execute('SELECT count(*) FROM passages').fetchone()[0]:,} passages so far"
    except sqlite3.Error:
        return ""


def check_target(folder: Path, sources: Iterable[Path]) -> None:
    """Raise IndexingError where the folder is a file, the documents' own, or holds other files and no index."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise IndexingError(f"the index cannot be written to {str(folder)!r}: {str(place)!r} is a file", _REMEDY)
    if any(folder.resolve() == source.resolve() for source in sources):
        raise IndexingError(f"{str(folder)!r} is the folder of the documents", f"{_REMEDY}, such as {folder}-index")
    if not folder.is_dir() or any((folder / name).exists() for name in (PASSAGES, VECTORS)) or _has_manifest(folder):
        return
    if others := sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        raise IndexingError(
            f"{str(folder)!r} holds other files and no index ({', '.join(others[:3])})", f"{_REMEDY}: a new or an empty one"
        )


def _has_manifest(folder: Path) -> bool:
    """Return whether a folder has the manifest of an index, not just a file of that name."""
    try:
        return read_manifest(folder / MANIFEST) is not None
    except IndexingError:
        return False


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Lock the folder for one writer, until the process ends at the latest. IndexingError where it cannot be written."""
    try:
        make_folder(folder)
        path = make_file(folder / LOCK).absolute()
        with closing(sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except (OSError, sqlite3.OperationalError) as error:
        if "locked" in str(error):
            raise IndexingError(f"another process is writing the index in {str(folder)!r}", "wait until it has finished") from error
        remedy = remedy_for(error, "check the folder's permissions and the free space, then run the command again", _holds_vectors(folder))
        raise IndexingError(f"the index in {str(folder)!r} cannot be written: {error}", remedy) from error


def share_index(folder: Path) -> None:
    """Make an index readable for all users; InputError where another user owns it."""
    names = (PASSAGES, VECTORS, MANIFEST, CHECKED, LOCK, *WORDS, *(name for names in STRUCTURE.values() for name in names))
    share([folder, *(folder / name for name in names)])


def is_being_written(folder: Path) -> bool:
    """Return whether a running process has locked the folder."""
    try:
        with closing(sqlite3.connect(f"{(folder / LOCK).absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as lock:
            lock.execute("SELECT * FROM sqlite_master")
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    return False


@contextmanager
def cleanup_on_failure(folder: Path) -> Iterator[None]:
    """Delete what a build has made that failed before its first vector; one with vectors can be resumed."""
    new_folders = [place for place in (folder, *folder.parents) if not place.exists()]
    new_files = [folder / name for name in _OWN_FILES if not (folder / name).exists()]
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
