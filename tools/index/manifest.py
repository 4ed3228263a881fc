"""The manifest of an index: what it is made of, the checksums that tell a whole one from a damaged one, and the state of its folder."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal, get_args

from pydantic import ConfigDict, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError
from pydantic_core import from_json

from ramify.tools.documents.files import INDEX_FILE, walk_folder
from ramify.tools.documents.readers import find_reader
from ramify.tools.embeddings.encoder import Prefixes
from ramify.tools.errors import IndexingError, InputError, RamifyError, UsageError
from ramify.tools.index.chunking import Chunking
from ramify.tools.new_files import create_files, make_file, make_folder, make_readable_by_all, sync, write_error_remedy

PASSAGES = INDEX_FILE
VECTORS = "vectors.faiss"
SLOTS = "slots.npy"
WORDS = ("words.counts.npy", "words.slots.npy", "words.ends.npy", "words.lengths.npy", "words.json")
"""The postings that a large index has of its words."""
MANIFEST = "manifest.json"
Kind = Literal["passages", "graph", "hierarchy"]
"""What an index is beside its passages: nothing more, a graph of their names, or a hierarchy of groups and summaries."""
STRUCTURE: dict[Kind, frozenset[str]] = {
    "passages": frozenset(),
    "graph": frozenset({"graph.sqlite"}),
    "hierarchy": frozenset({"hierarchy.sqlite"}),
}
"""The files of each kind beside those of the passages."""
NEXT = "next."
"""Files being written carry this prefix until they take the place of the finished ones."""
CHECKED = ".checked"
"""Notes which files were compared with their checksums: large ones, and those of the demo."""
LARGE = 16 * 2**20
"""Bytes from which on files are not read whole when an index is opened."""

Precision = Literal["fp32", "fp16", "int8"]
"""How the numbers of the vectors are kept that are searched; those that scores are counted from are always whole."""
WHOLE: Precision = "fp32"


def precision_of(name: str) -> Precision:
    """Return how vectors are to be kept; UsageError for a name that means nothing."""
    found: Precision | None = next((known for known in get_args(Precision) if known == name), None)
    if found is None:
        raise UsageError(f"vectors cannot be kept in {name!r}", f"choose one of {', '.join(get_args(Precision))}")
    return found


LAYOUT = 3
"""Incremented when indexes made before can no longer be read."""


class LayoutError(IndexingError):
    """The index was made by a version of ramify with another layout."""


@dataclass(frozen=True)
class Manifest:
    """What is remembered beside an index; written last."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    embedding: str
    dimension: PositiveInt
    chunk_tokens: PositiveInt
    overlap: NonNegativeInt
    documents: NonNegativeInt
    passages: NonNegativeInt
    sha256: dict[str, str]
    layout: int = LAYOUT
    query_prefix: str | None = None
    document_prefix: str | None = None
    """Put before what is embedded."""
    hidden: dict[str, int] = field(default_factory=dict)
    """How many passages are kept and not searched, by the reason."""
    kind: Kind = "passages"
    label: list[str] = field(default_factory=list)
    """Fields of metadata that passages are embedded and searched under, beside title and headings."""
    group_by: list[str] = field(default_factory=list)
    """Fields of metadata that a hierarchy groups passages by."""
    vectors: Precision = WHOLE
    description: str = ""
    """What it is about, in a sentence, where somebody said so."""

    @property
    def prefixes(self) -> Prefixes:
        """Return what is put before questions and passages when they are embedded."""
        return Prefixes(self.query_prefix, self.document_prefix)

    @property
    def chunking(self) -> Chunking:
        """Return how documents are split."""
        return Chunking(self.chunk_tokens, self.overlap)

    @property
    def contents(self) -> tuple[object, ...]:
        """Return what the passages themselves record, too: how they are made, and how many there are."""
        made = (self.embedding, self.dimension, self.chunk_tokens, self.overlap)
        return *made, self.documents, self.passages, self.hidden, self.label

    def write(self, path: Path) -> None:
        """Write the manifest so that it is there whole or not at all."""
        part = path.with_name(path.name + ".part")
        with create_files(part):
            part.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
            sync(part)
            part.replace(path)
        sync(path.parent)

    def damage(self, folder: Path) -> str | None:
        """Return what is wrong with the files of an index, None where nothing is."""
        for name, expected in self.sha256.items():
            path = folder / name
            if not path.is_file():
                return f"{name} is no file" if path.exists() else f"{name} is missing"
            try:
                found = file_sha256(path)
            except OSError as error:
                return f"{name} cannot be read ({error.strerror})"
            if found != expected:
                return f"{name} is damaged: its checksum is not the one in {MANIFEST}"
        return None


_FORM = TypeAdapter(Manifest)


def read_manifest(path: Path) -> Manifest | None:
    """Read a manifest, None where there is none; raises `IndexingError` where it is unreadable."""
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is no file")
        if path.stat().st_size > LARGE:
            raise ValueError("it is larger than any manifest")
        content = path.read_bytes()
        layout = told.get("layout") if isinstance(told := from_json(content), dict) else None
        if isinstance(layout, int) and layout != LAYOUT:
            what = f"the index in {str(path.parent)!r} is of another version of ramify (layout {layout!r}, not {LAYOUT})"
            newer = "upgrade ramify, or " if layout > LAYOUT else ""
            raise LayoutError(what, f"{newer}delete it and build it again: `ramify index PATH… --out {path.parent}`")
        manifest = _FORM.validate_json(content)
        if manifest.sha256.keys() - WORDS != {PASSAGES, VECTORS, SLOTS} | STRUCTURE[manifest.kind]:
            raise ValueError(f"files {sorted(manifest.sha256)!r}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        remedy = f"move it away, or make it readable; then run `ramify index PATH… --out {path.parent}`"
        raise IndexingError(f"{str(path)!r} cannot be read ({error.strerror or error})", remedy) from error
    except ValueError as error:
        raise IndexingError(f"{str(path)!r} is damaged or of another version ({_reason(error)})", repair_remedy(path.parent)) from error
    return manifest


def _reason(error: ValueError) -> str:
    """Return what is wrong with the first value that is none, in a few words."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'all of it'}: {first['msg']}"


def repair_remedy(folder: Path) -> str:
    """Return the remedy for an index that is half-written or damaged."""
    return f"run `ramify index PATH… --out {folder}` again: it keeps what is whole and repairs the rest"


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def latest_manifests(folder: Path) -> list[Manifest]:
    """Read the manifest of the finished index, and that of a publication which was interrupted; those that are there and readable."""
    found = []
    for name in (MANIFEST, NEXT + MANIFEST):
        with suppress(IndexingError):
            found.append(read_manifest(folder / name))
    return [manifest for manifest in found if manifest]


def new_damage(manifest: Manifest, folder: Path, note_from: int | None = None) -> str | None:
    """Return what is wrong with the files of an index, None where nothing is; compared with their checksums once, where that is noted.

    After that, the same file of the same size and times is taken to be as it was. It is noted of files that have together `note_from`
    bytes, by default `LARGE`: others are compared at no cost.
    """
    now = _file_states(manifest, folder)
    if now is not None and now == _checked_states(folder):
        return None
    found = manifest.damage(folder)
    if found is None and now is not None and now == _file_states(manifest, folder):
        note_checked(manifest, folder, note_from)
    return found


def is_whole(manifest: Manifest, folder: Path, *names: str) -> bool:
    """Return whether some files are those of the manifest; those that were compared and stayed as they were are not read again."""
    checked, now = _checked_states(folder), _file_states(manifest, folder) or {}
    return all(
        (name in now and checked.get(name) == now[name])
        or (name in manifest.sha256 and (folder / name).is_file() and file_sha256(folder / name) == manifest.sha256[name])
        for name in names
    )


def _checked_states(folder: Path) -> dict[str, list[int | str]]:
    with suppress(OSError, ValueError):
        told = json.loads((folder / CHECKED).read_text(encoding="utf-8"))
        return told if isinstance(told, dict) else {}
    return {}


def note_checked(manifest: Manifest, folder: Path, note_from: int | None = None) -> None:
    """Remember that the files are those of the manifest; in a folder that cannot be written to they are compared each time."""
    now = _file_states(manifest, folder)
    if now is None or sum(int(size) for _, size, *_ in now.values()) < (LARGE if note_from is None else note_from):
        return
    with suppress(OSError):
        part = folder / f"{CHECKED}.part"
        with create_files(part):
            part.write_text(json.dumps(now), encoding="utf-8")
            part.replace(folder / CHECKED)


def _file_states(manifest: Manifest, folder: Path) -> dict[str, list[int | str]] | None:
    """Describe the files; None where one is missing."""
    try:
        states = {name: (folder / name).stat() for name in sorted(manifest.sha256)}
    except OSError:
        return None
    # Copies keep size and time of change, but not the number of the file and the time that it came to be there.
    return {
        name: [manifest.sha256[name], state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino] for name, state in states.items()
    }


LOCK = ".writing"
_PATIENCE_S = 0.5
"""A reader that looks whether somebody writes holds the lock for a moment."""
_COUNTING_S = 1.0
"""What a reader waits for a writer that commits, to see what it has written."""
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
        counted = _first_row(folder, "SELECT count(*) FROM passages")
        so_far = f": {counted[0]:,} passages so far" if counted else ""
        return IndexingError(f"the index in {where} is being written{so_far}", "wait until it has finished")
    if any((folder / name).exists() for name in (PASSAGES, VECTORS, NEXT + PASSAGES)):
        return IndexingError(f"the index in {where} is half-written", repair_remedy(folder))
    files = [folder] if folder.is_file() else walk_folder(folder, [])
    if any(find_reader(path) for path in islice(files, _LOOKED_AT)):
        made, what = folder.parent / f"{folder.stem}-index", "is a document" if folder.is_file() else "holds documents"
        return IndexingError(f"{where} {what}, not an index", f"make one of it: `ramify index {folder} --out {made}`")
    if folder.is_file():
        return IndexingError(f"{where} is a file, not the folder of an index", f"make one: `ramify index PATH… --out {folder}-index`")
    return IndexingError(f"there is no index in {where}", f"make one: `ramify index PATH… --out {folder}`")


def check_target(folder: Path, sources: Iterable[Path]) -> None:
    """Raise IndexingError where the folder is a file, the documents' own, or holds other files and no index."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise IndexingError(f"the index cannot be written to {str(folder)!r}: {str(place)!r} is a file", _REMEDY)
    if any(folder.resolve() == source.resolve() for source in sources):
        raise IndexingError(f"{str(folder)!r} is the folder of the documents", f"{_REMEDY}, such as {folder}-index")
    if not folder.is_dir() or any((folder / name).exists() for name in (PASSAGES, VECTORS)) or latest_manifests(folder):
        return
    if others := sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        raise IndexingError(
            f"{str(folder)!r} holds other files and no index ({', '.join(others[:3])})", f"{_REMEDY}: a new or an empty one"
        )


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
        remedy = write_error_remedy(
            error, "check the folder's permissions and the free space, then run the command again", _holds_vectors(folder)
        )
        raise IndexingError(f"the index in {str(folder)!r} cannot be written: {error}", remedy) from error


def share_index(folder: Path) -> None:
    """Make an index readable for all users; InputError where another user owns it."""
    names = (PASSAGES, VECTORS, SLOTS, MANIFEST, CHECKED, LOCK, *WORDS, *(name for names in STRUCTURE.values() for name in names))
    make_readable_by_all([folder, *(folder / name for name in names)])


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
    return _first_row(folder, "SELECT 1 FROM vectors LIMIT 1") is not None


def _first_row(folder: Path, sql: str) -> tuple[int] | None:
    """Read from passages that are being written; None where there is nothing, or a commit is under way."""
    try:
        with closing(sqlite3.connect(f"{(folder / PASSAGES).absolute().as_uri()}?mode=ro", uri=True, timeout=_COUNTING_S)) as passages:
            found: tuple[int] | None = passages.execute(sql).fetchone()
            return found
    except sqlite3.Error:
        return None
