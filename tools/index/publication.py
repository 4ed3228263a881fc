"""Where an index is written: one writer at a time, a working copy, and its publication as a whole."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.prefixed import settled_prefixes
from ramify.tools.errors import IndexingError, RamifyError
from ramify.tools.index.bm25 import FROM, write_postings
from ramify.tools.index.checksums import note_checked
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.earlier_layout import layout_of, take_vectors
from ramify.tools.index.hnsw import build_graph
from ramify.tools.index.manifest import (
    LAYOUT,
    MANIFEST,
    NEXT,
    PASSAGES,
    STRUCTURE,
    VECTORS,
    WHOLE,
    WORDS,
    EarlierLayoutError,
    Kind,
    Manifest,
    Precision,
    file_sha256,
    read_manifest,
)
from ramify.tools.index.progress import Progress
from ramify.tools.index.working_copy import Draft

LOCK = ".writing"
EARLIER = "earlier."
"""What an index of another layout is called while its vectors are taken over."""
_PATIENCE_S = 0.5
"""A reader that looks whether somebody writes holds the lock for a moment."""


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the folder for one writer; the hold ends with the process, however that ends."""
    remedy = "check the folder's permissions and the free space"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(folder / LOCK, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except (FileExistsError, PermissionError, sqlite3.OperationalError) as error:
        if "locked" in str(error):
            raise IndexingError(f"another process is writing the index in {str(folder)!r}", "wait until it has finished") from error
        raise IndexingError(f"the index in {str(folder)!r} cannot be written: {error}", remedy) from error


def is_being_written(folder: Path) -> bool:
    """Tell whether a living writer holds the folder."""
    try:
        with closing(sqlite3.connect(f"{(folder / LOCK).absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as lock:
            lock.execute("SELECT * FROM sqlite_master")
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    return False


def open_draft(
    folder: Path, encoder: Encoder, chunking: Chunking, resume: bool = True, clean: bool | None = None, label: Sequence[str] | None = None
) -> Draft:
    """Open the working copy: what an interrupted run left (`resume`), else a copy of the finished index, else a new one.

    clean: whether the index is to leave out of search what only lists or repeats; by default as it is, and in a new one, yes.
    label: fields of metadata that passages are embedded under; by default as it is, and in a new one, none.

    A folder without a manifest cannot be opened as an index, so its first `passages.sqlite` is written in place.
    """
    finished, copy = folder / PASSAGES, folder / (NEXT + PASSAGES)
    manifest = _readable_manifest(folder, resume)
    made = Making(encoder, chunking, clean, None if label is None else tuple(label))
    if copy.exists() and not resume:
        _remove(copy)
    if copy.exists():
        draft = _checked(copy, made)
        draft.changed = True
        return draft
    if manifest is None:
        return _checked(finished, made)
    if _trusted(folder, manifest):
        part = copy.with_name(copy.name + ".part")
        shutil.copyfile(finished, part)
        part.replace(copy)
    return _checked(copy, made)


def _readable_manifest(folder: Path, renew: bool) -> Manifest | None:
    """Return the manifest; one that cannot be read protects nothing and is removed, one of another layout where all is read again."""
    try:
        return read_manifest(folder / MANIFEST)
    except EarlierLayoutError:
        if not renew:
            raise
    except IndexingError:
        pass
    (folder / MANIFEST).unlink()
    return None


def _trusted(folder: Path, manifest: Manifest | None) -> bool:
    """Tell whether the finished passages are those of the manifest, or of the one whose publication was interrupted."""
    if not (folder / PASSAGES).is_file():
        return False
    found = file_sha256(folder / PASSAGES)
    upcoming = read_manifest(folder / (NEXT + MANIFEST))
    return any(known and known.sha256[PASSAGES] == found for known in (manifest, upcoming))


class Making(NamedTuple):
    """How an index is to be made: see `Index.build`; `clean` and `label` are None where they may be as they are."""

    encoder: Encoder
    chunking: Chunking
    clean: bool | None
    label: tuple[str, ...] | None = None

    def facts(self) -> dict[str, str]:
        """Return what a draft remembers of it."""
        clean = {} if self.clean is None else {"clean": "yes" if self.clean else "no"}
        label = {} if self.label is None else {"label": ",".join(self.label)}
        chunking = {"chunk_tokens": str(self.chunking.tokens), "overlap": str(self.chunking.overlap)}
        return {"layout": str(LAYOUT), "embedding": self.encoder.name, **chunking, **clean, **label}


def _checked(path: Path, making: Making) -> Draft:
    """Open a draft made the same way; a damaged one is begun anew, and one of another layout with nothing but its vectors."""
    earlier = path.with_name(EARLIER + path.name)
    if path.exists() and layout_of(path) not in (None, str(LAYOUT)):
        path.replace(earlier)
    draft = _undamaged(path)
    try:
        compare(draft, making, str(draft.path.parent))
        if earlier.exists():
            take_vectors(draft, earlier)
            _remove(earlier)
    except RamifyError:
        draft.close()
        raise
    return draft


def compare(draft: Draft, making: Making, where: str, other: str = "--out folder") -> None:
    """Refuse to go on otherwise than the draft was made; a new one remembers how, an older one what it was not told before."""
    made, encoder = draft.facts(), making.encoder
    made = made and {"label": "", **made}  # one that says nothing of labels has none
    prefixes = (encoder.prefixes if made else settled_prefixes(encoder)).told()
    facts = making.facts() | prefixes
    held = made if not made or prefixes.keys() <= made.keys() else encoder.own_prefixes.told() | made
    different = [f"{name} {held[name]!r}, not {value!r}" for name, value in facts.items() if name in held and held[name] != value]
    if different:
        what = f"the index in {where!r} is made with {', '.join(different)}"
        raise IndexingError(what, f"ask for the same, or give another {other}")
    if not facts.keys() <= made.keys():
        draft.changed = draft.changed or bool(made)
        draft.remember(facts)


def _undamaged(path: Path) -> Draft:
    try:
        draft = Draft(path)
        if draft.whole():
            return draft
        draft.close()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
    _remove(path)
    return Draft(path)


def _remove(path: Path) -> None:
    path.unlink()
    path.with_name(path.name + "-journal").unlink(missing_ok=True)


def publish(folder: Path, draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress, precision: Precision = WHOLE) -> Manifest:
    """Put the draft in the place of the finished index: the files first, the manifest that vouches for them last."""
    documents, passages = draft.finish()
    hidden, label = draft.hidden(), list(draft.label)
    graph = folder / (NEXT + VECTORS)
    dimension = draft.dimension() or encoder.dimension
    sample = np.empty((0, dimension), dtype=np.float32) if precision == WHOLE else draft.sample(dimension)
    build_graph(draft.vectors(dimension), dimension, graph, passages, progress, precision, sample)
    postings = write_postings(draft.database, folder, progress) if passages > FROM else []
    draft.close()
    sha256 = {PASSAGES: file_sha256(draft.path), VECTORS: file_sha256(graph)}
    sha256 |= {name: file_sha256(folder / (NEXT + name)) for name in postings}
    kind, beside = _beside(folder)
    sha256 |= beside
    made = (encoder.name, dimension, *chunking, documents, passages, sha256, LAYOUT, *encoder.prefixes, hidden, kind)
    manifest = Manifest(*made, label, vectors=precision)
    manifest.write(folder / (NEXT + MANIFEST))
    draft.path.replace(folder / PASSAGES)
    graph.replace(folder / VECTORS)
    for name in postings:
        (folder / (NEXT + name)).replace(folder / name)
    (folder / (NEXT + MANIFEST)).replace(folder / MANIFEST)
    for name in set(WORDS) - sha256.keys():
        (folder / name).unlink(missing_ok=True)
    note_checked(manifest, folder)
    return manifest


def _beside(folder: Path) -> tuple[Kind, dict[str, str]]:
    """Tell what the finished index is beside its passages, with the checksums of that; where it is damaged, nothing."""
    try:
        held = read_manifest(folder / MANIFEST)
    except IndexingError:
        return "passages", {}
    files = {name: held.sha256[name] for name in STRUCTURE[held.kind]} if held else {}
    whole = all((folder / name).is_file() and file_sha256(folder / name) == sha256 for name, sha256 in files.items())
    return (held.kind, files) if held and whole else ("passages", {})
