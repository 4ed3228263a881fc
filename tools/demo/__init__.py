"""A small corpus that is installed with ramify, and its index in the user's cache."""

import hashlib
import shutil
import threading
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp

from ramify.tools import plugins
from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.manifest import LAYOUT, MANIFEST, IndexKind, file_sha256, find_damage, read_index_manifest
from ramify.tools.new_files import cache_folder, make_folder

__all__ = ["demo_corpus", "demo_index"]


_building_lock = threading.RLock()
"""Concurrent callers wait instead of building the index twice."""


def demo_corpus() -> Path:
    """Return the path of the packaged corpus, one JSON record per line."""
    return Path(str(files(__name__) / "corpus.jsonl"))


def demo_index(kind: IndexKind = "passages") -> Path:
    """Return the folder of the demo corpus's index, built at first use; blocking. Safe for concurrent threads and processes.

    Each installation has its own index, whose citations link to its own corpus; each kind has its own folder.
    """
    corpus = demo_corpus().absolute()
    made_of = f"{corpus}\0{_sha256(corpus, corpus.stat().st_mtime_ns)}"
    suffix = "" if kind == "passages" else f"-{kind}"
    folder = cache_folder() / f"demo-{LAYOUT}-{hashlib.sha256(made_of.encode()).hexdigest()[:12]}{suffix}"
    with _building_lock:
        if _is_intact(folder, kind):
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder.parent)
        temporary = Path(mkdtemp(prefix="demo-", dir=folder.parent))
        try:
            if kind == "passages":
                Index.build([demo_corpus()], temporary)
            else:
                shutil.copytree(demo_index(), temporary, dirs_exist_ok=True)
                plugins.load("ramify.kinds", kind).build(temporary)
            try:
                temporary.rename(folder)
            except OSError:
                if not _is_intact(folder, kind):  # another process was first: use its index
                    raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return folder


@cache
def _sha256(path: Path, changed: int) -> str:
    """Return the sha256 of a file, read once after each change."""
    return file_sha256(path)


def _is_intact(folder: Path, kind: IndexKind) -> bool:
    """Return whether an index exists and is intact; its files are read only if one has changed."""
    try:
        manifest = read_index_manifest(folder / MANIFEST)
    except (IndexingError, OSError):
        return False
    return manifest is not None and manifest.kind == kind and find_damage(manifest, folder, note_from=0) is None
