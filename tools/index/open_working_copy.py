"""Open the working copy of an index: what an interrupted build left, a copy of the finished one, or a new one."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.prefixes import settled_prefixes
from ramify.tools.errors import IndexingError, RamifyError
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.manifest import LAYOUT, MANIFEST, NEXT, PASSAGES, EarlierLayoutError, Manifest, file_sha256, read_manifest
from ramify.tools.index.working_copy import Draft
from ramify.tools.new_files import upcoming

EARLIER = "earlier."
"""What an index of another layout is called while its vectors are taken over."""
_MADE_BY = ("embedding", "query_prefix", "document_prefix")
"""What vectors depend on, beside the text."""


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
        with upcoming(part):
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
    return any(known and known.sha256[PASSAGES] == found for known in (manifest, _interrupted(folder)))


def _interrupted(folder: Path) -> Manifest | None:
    """Return the manifest of a publication that was interrupted, where it can be read."""
    try:
        return read_manifest(folder / (NEXT + MANIFEST))
    except IndexingError:
        return None


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
    if path.exists() and _layout_of(path) not in (None, str(LAYOUT)):
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


def _layout_of(path: Path) -> str | None:
    """Return the layout that a file of passages says it has, None where it is empty or cannot be read."""
    try:
        with closing(sqlite3.connect(path.absolute())) as database:
            found = database.execute("SELECT value FROM facts WHERE name = 'layout'").fetchone()
    except sqlite3.DatabaseError:
        return None
    return str(found[0]) if found else None


def take_vectors(draft: Draft, path: Path) -> None:
    """Take over the vectors of another index, or of one of another layout, where they are made the same way."""
    database = draft.database
    database.execute("ATTACH DATABASE ? AS earlier", [str(path.absolute())])
    with database:
        made, facts = dict(database.execute("SELECT name, value FROM earlier.facts")), draft.facts()
        if all(made.get(name) == facts.get(name) for name in _MADE_BY):
            database.execute("INSERT OR IGNORE INTO vectors SELECT digest, vector FROM earlier.vectors")
    database.execute("DETACH DATABASE earlier")


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
