"""Say why a folder cannot be opened as an index: what is there instead."""

import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path

from ramify.tools.documents.files import files_in
from ramify.tools.documents.readers import reader_of
from ramify.tools.errors import IndexingError
from ramify.tools.index.manifest import NEXT, PASSAGES, VECTORS, again
from ramify.tools.index.publication import is_being_written

_LOOKED_AT = 10_000
"""Files that are looked at to find out whether a folder holds documents."""
_PATIENCE_S = 1.0


def no_index(folder: Path) -> IndexingError:
    """Tell apart an index under way, one half-written, documents, and nothing at all."""
    where = repr(str(folder))
    if is_being_written(folder):
        return IndexingError(f"the index in {where} is being written{_so_far(folder)}", "wait until it has finished")
    if any((folder / name).exists() for name in (PASSAGES, VECTORS, NEXT + PASSAGES)):
        return IndexingError(f"the index in {where} is half-written", again(folder))
    if _holds_documents(folder):
        made, what = folder.with_name(f"{folder.stem}-index"), "is a document" if folder.is_file() else "holds documents"
        return IndexingError(f"{where} {what}, not an index", f"make one of it: `ramify index {folder} --out {made}`")
    if folder.is_file():
        return IndexingError(f"{where} is a file, not the folder of an index", f"make one: `ramify index PATH… --out {folder}-index`")
    return IndexingError(f"there is no index in {where}", f"make one: `ramify index PATH… --out {folder}`")


def _holds_documents(place: Path) -> bool:
    files = [place] if place.is_file() else files_in(place, [])
    return any(reader_of(path) for path in islice(files, _LOOKED_AT))


def _so_far(folder: Path) -> str:
    """Count what the writer has committed; nothing where it is committing this moment."""
    try:
        with closing(sqlite3.connect(f"{(folder / PASSAGES).absolute().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE_S)) as passages:
            return f": {passages.execute('SELECT count(*) FROM passages').fetchone()[0]:,} passages so far"
    except sqlite3.Error:
        return ""
