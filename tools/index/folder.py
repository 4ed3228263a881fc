"""The folder of an index: its files, its lock, and the checks before it is read or written."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path

from ramify.tools.documents.files import walk_folder
from ramify.tools.documents.readers import find_reader
from ramify.tools.errors import IndexingError, InputError, RamifyError
from ramify.tools.index.manifest import (
    CHECKED_FILE,
    FILES,
    MANIFEST,
    PASSAGES,
    VECTORS,
    Manifest,
    add_version,
    read_index_manifest,
    repair_remedy,
    split_version,
)
from ramify.tools.new_files import make_file, make_folder, make_readable_by_all, write_error_remedy

LOCK_FILE = ".writing"
BACKGROUND_LOG = ".background.log"
"""What the process printed that computes the vectors in the background."""
_LOCK_TIMEOUT_S = 0.5
"""Seconds to wait for the lock: a reader that checks for a writer holds it briefly."""
_COUNT_TIMEOUT_S = 1.0
"""Seconds a reader waits for a writer's commit to count its passages."""
_MAX_FILES_CHECKED = 10_000
"""Maximum number of files checked to find out whether a folder contains documents."""
_REMEDY = "give --out a folder of its own"


def index_file(folder: Path, name: str) -> Path:
    """Return the path of the current version of a file; IndexingError if there is no index."""
    return folder / require_manifest(folder).file(name)


def index_files(folder: Path) -> list[Path]:
    """Return the files in a folder that have names of an index's files, of any version."""
    with suppress(OSError):
        return [path for path in folder.iterdir() if split_version(path.name)[0] in FILES]
    return []


def _has_parts(folder: Path) -> bool:
    """Return whether there are passages or vectors of an index, which may be incomplete."""
    return any(split_version(path.name)[0] in (PASSAGES, VECTORS) for path in index_files(folder))


def working_copy(folder: Path, manifest: Manifest | None) -> Path:
    """Return the path of the passages being written: the next version, or without a manifest the latest there is."""
    if manifest is not None:
        return folder / manifest.next_file(PASSAGES)
    versions = [version for name, version in (split_version(path.name) for path in index_files(folder)) if name == PASSAGES]
    return folder / add_version(PASSAGES, max(versions, default=0))


def remove_unused(folder: Path, manifest: Manifest) -> None:
    """Delete the files that the manifest does not name, but not those of an interrupted build that can be resumed."""
    used = {folder / name for name in manifest.sha256} | {working_copy(folder, manifest)}
    for path in folder.iterdir():
        name = path.name.removeprefix("next.").removesuffix(".part")  # earlier versions prepared files with this prefix
        if path not in used and (split_version(name)[0] in FILES or path.name == f"next.{MANIFEST}"):
            with suppress(OSError):
                path.unlink()


def require_manifest(folder: Path) -> Manifest:
    """Return the manifest of a finished index; IndexingError if there is none."""
    manifest = read_index_manifest(folder / MANIFEST)
    if manifest is None:
        raise missing_index_error(folder)
    return manifest


def missing_index_error(folder: Path) -> IndexingError:
    """Return the error for a folder without a finished index: being written, incomplete, documents, or nothing."""
    where = repr(str(folder))
    if is_being_written(folder):
        row = _first_row(working_copy(folder, None), "SELECT count(*) FROM passages")
        so_far = f": {row[0]:,} passages so far" if row else ""
        return IndexingError(f"the index in {where} is being written{so_far}", "wait until it has finished")
    if _has_parts(folder):
        return IndexingError(f"the index in {where} is half-written", repair_remedy(folder))
    files = [folder] if folder.is_file() else walk_folder(folder, [])
    if any(find_reader(path) for path in islice(files, _MAX_FILES_CHECKED)):
        made, what = folder.parent / f"{folder.stem}-index", "is a document" if folder.is_file() else "contains documents"
        return IndexingError(f"{where} {what}, not an index", f"build one from it: `ramify index {folder} --out {made}`")
    if folder.is_file():
        return IndexingError(f"{where} is a file, not the folder of an index", f"build one: `ramify index PATH… --out {folder}-index`")
    return IndexingError(f"there is no index in {where}", f"build one: `ramify index PATH… --out {folder}`")


def check_target(folder: Path, sources: Iterable[Path]) -> None:
    """Raise IndexingError if the folder is a file, the folder of the documents, or has other files and no index."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise IndexingError(f"the index cannot be written to {str(folder)!r}: {str(place)!r} is a file", _REMEDY)
    if any(folder.resolve() == source.resolve() for source in sources):
        raise IndexingError(f"{str(folder)!r} is the folder of the documents", f"{_REMEDY}, such as {folder}-index")
    if not folder.is_dir() or _has_parts(folder):
        return
    with suppress(IndexingError):
        if read_index_manifest(folder / MANIFEST) is not None:
            return
    if others := sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        raise IndexingError(
            f"{str(folder)!r} contains other files and no index ({', '.join(others[:3])})", f"{_REMEDY}: a new or an empty one"
        )


@contextmanager
def write_lock(folder: Path) -> Iterator[None]:
    """Lock the folder for one writer; IndexingError if another process writes it or it is not writable."""
    try:
        make_folder(folder)
        path = make_file(folder / LOCK_FILE).absolute()
        with closing(sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False)) as lock:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                what = f"another process is writing the index in {str(folder)!r}"
                raise IndexingError(what, "wait until it has finished") from error
            yield
    except (OSError, sqlite3.OperationalError) as error:
        remedy = write_error_remedy(
            error, "check the folder's permissions and the free space, then run the command again", _has_vectors(folder)
        )
        raise IndexingError(f"the index in {str(folder)!r} cannot be written: {error}", remedy) from error


def share_index(folder: Path) -> None:
    """Make an index readable for all users; InputError if another user owns it."""
    make_readable_by_all([folder, *(folder / name for name in (MANIFEST, CHECKED_FILE, LOCK_FILE)), *index_files(folder)])


def is_being_written(folder: Path) -> bool:
    """Return whether a running process holds the write lock."""
    try:
        with closing(sqlite3.connect(f"{(folder / LOCK_FILE).absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as lock:
            lock.execute("SELECT * FROM sqlite_master")
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    return False


@contextmanager
def cleanup_on_failure(folder: Path) -> Iterator[None]:
    """Delete the files of a build that fails before its first vector; a build with vectors can be resumed."""
    new_folders = [place for place in (folder, *folder.parents) if not place.exists()]
    before = {*index_files(folder), *folder.glob(LOCK_FILE)}
    is_new = not any(split_version(path.name)[0] == PASSAGES for path in before)
    try:
        yield
    except (RamifyError, OSError) as error:
        if not isinstance(error, InputError) and (not is_new or _has_vectors(folder)):
            raise
        for path in {*index_files(folder), folder / LOCK_FILE} - before:
            path.unlink(missing_ok=True)
        for place in new_folders:
            with suppress(OSError):
                place.rmdir()
        raise


def _has_vectors(folder: Path) -> bool:
    """Return whether a first build has stored vectors."""
    return _first_row(working_copy(folder, None), "SELECT 1 FROM vectors LIMIT 1") is not None


def _first_row(path: Path, sql: str) -> tuple[int] | None:
    """Return the first row of a query on passages being written; None if there is none or the file is locked."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_COUNT_TIMEOUT_S)) as passages:
            row: tuple[int] | None = passages.execute(sql).fetchone()
            return row
    except sqlite3.Error:
        return None
