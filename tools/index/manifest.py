"""The manifest of an index: its options and checksums; and checks and locks of its folder."""

import hashlib
import json
import re
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
POSTINGS_FILES = ("words.counts.npy", "words.slots.npy", "words.ends.npy", "words.lengths.npy", "words.json")
"""The files of the postings of a large index."""
MANIFEST = "manifest.json"
IndexKind = Literal["passages", "graph", "hierarchy"]
"""The kind of an index: only passages, or also a graph of names, or a hierarchy of groups and summaries."""
STRUCTURE_FILES: dict[IndexKind, frozenset[str]] = {
    "passages": frozenset(),
    "graph": frozenset({"graph.sqlite"}),
    "hierarchy": frozenset({"hierarchy.zlib"}),
}
"""The additional files of each kind."""
_FILES = frozenset({PASSAGES, VECTORS, SLOTS, *POSTINGS_FILES}).union(*STRUCTURE_FILES.values())
_RENAMED_FILES = {"hierarchy.sqlite": "hierarchy.zlib"}
"""Files of earlier versions with another name, which count as the first version."""
_VERSION = re.compile(r"(.+?)(?:\.(\d{1,9}))?(\.\w+)")
"""A file name with its version: "vectors.2.faiss" is the second successor of "vectors.faiss"."""
CHECKED_FILE = ".checked"
"""The file that records which files were compared with their checksums."""
LARGE_FILE_BYTES = 16 * 2**20
"""Size in bytes above which files are not read completely when an index is opened."""

Precision = Literal["fp32", "fp16", "int8"]
"""Number type of the searched vectors; scores are always computed from full-precision vectors."""
FULL_PRECISION: Precision = "fp32"


def parse_precision(name: str) -> Precision:
    """Return a precision by name; UsageError for an unknown name."""
    precision: Precision | None = next((known for known in get_args(Precision) if known == name), None)
    if precision is None:
        raise UsageError(f"vectors cannot be stored as {name!r}", f"choose one of {', '.join(get_args(Precision))}")
    return precision


LAYOUT = 3
"""Version of the file formats: incremented when older indexes can no longer be read."""


class LayoutError(IndexingError):
    """The index was made by a version of ramify with another layout."""


@dataclass(frozen=True)
class Manifest:
    """The description of an index, written last when it is published."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)

    embedding: str
    dimension: PositiveInt
    chunk_tokens: PositiveInt
    overlap: NonNegativeInt
    documents: NonNegativeInt
    passages: NonNegativeInt
    sha256: dict[str, str]
    """The checksums of its files by name; a changed file has a name of its own, so replacing the manifest replaces the index."""
    layout: int = LAYOUT
    query_prefix: str | None = None
    document_prefix: str | None = None
    """Prefixes of questions and passages for embedding."""
    hidden: dict[str, int] = field(default_factory=dict)
    """Number of hidden passages by reason."""
    kind: IndexKind = "passages"
    label: list[str] = field(default_factory=list)
    """Metadata fields in the labels of passages, in addition to title and headings."""
    group_by: list[str] = field(default_factory=list)
    """Metadata fields by which a hierarchy groups passages."""
    vectors: Precision = FULL_PRECISION
    description: str = ""
    """A description of its documents in one sentence, if given."""

    @property
    def prefixes(self) -> Prefixes:
        """Return the prefixes of questions and passages for embedding."""
        return Prefixes(self.query_prefix, self.document_prefix)

    @property
    def chunking(self) -> Chunking:
        """Return the length and overlap of passages."""
        return Chunking(self.chunk_tokens, self.overlap)

    def file(self, name: str) -> str:
        """Return the name of the current version of a file; KeyError if the index has none."""
        return {split_version(own)[0]: own for own in self.sha256}[name]

    def next_file(self, name: str) -> str:
        """Return the name of the next version of a file."""
        current = [version for base, version in map(split_version, self.sha256) if base == name]
        return add_version(name, current[0] + 1) if current else name

    def prepare(self, folder: Path) -> Path:
        """Write the manifest to a file that `commit` puts in its place, when the index's files are on the disk."""
        part = folder / f"{MANIFEST}.part"
        with create_files(part):
            part.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
            sync(part, folder)
        return part

    def write(self, folder: Path) -> None:
        """Replace the manifest of an index, and so the index."""
        commit(self.prepare(folder))


def commit(prepared: Path) -> None:
    """Put a prepared manifest in its place."""
    prepared.replace(prepared.with_suffix(""))
    sync(prepared.parent)


def split_version(name: str) -> tuple[str, int]:
    """Return a file name without its version, and the version, 0 for the first."""
    version = _VERSION.fullmatch(_RENAMED_FILES.get(name, name))
    return (version[1] + version[3], int(version[2] or 0)) if version else (name, 0)


def add_version(name: str, version: int) -> str:
    """Return a file name with its version."""
    stem, _, ending = name.rpartition(".")
    return f"{stem}.{version}.{ending}" if version else name


_ADAPTER = TypeAdapter(Manifest)


def read_index_manifest(path: Path) -> Manifest | None:
    """Return a manifest, None if there is none; IndexingError if it is unreadable, LayoutError if it is of another layout."""
    try:
        if path.exists() and not path.is_file():
            raise OSError("it is not a file")
        if path.stat().st_size > LARGE_FILE_BYTES:
            raise ValueError("it is larger than any manifest")
        content = path.read_bytes()
        layout = parsed.get("layout") if isinstance(parsed := from_json(content), dict) else None
        if isinstance(layout, int) and layout != LAYOUT:
            what = f"the index in {str(path.parent)!r} is of another version of ramify (layout {layout!r}, not {LAYOUT})"
            newer = "upgrade ramify, or " if layout > LAYOUT else ""
            raise LayoutError(what, f"{newer}delete it and build it again: `ramify index PATH… --out {path.parent}`")
        manifest = _ADAPTER.validate_json(content)
        names = [name for name, _ in map(split_version, manifest.sha256) if name not in POSTINGS_FILES]
        if sorted(names) != sorted({PASSAGES, VECTORS, SLOTS} | STRUCTURE_FILES[manifest.kind]):
            raise ValueError(f"files {sorted(manifest.sha256)!r}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        remedy = f"move it away, or make it readable; then run `ramify index PATH… --out {path.parent}`"
        raise IndexingError(f"{str(path)!r} cannot be read ({error.strerror or error})", remedy) from error
    except ValueError as error:
        raise IndexingError(
            f"{str(path)!r} is damaged or of another version ({_first_problem(error)})", repair_remedy(path.parent)
        ) from error
    return manifest


def _first_problem(error: ValueError) -> str:
    """Return a short description of the first invalid value."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'manifest'}: {first['msg']}"


def repair_remedy(folder: Path) -> str:
    """Return the remedy for an incomplete or damaged index."""
    return f"run `ramify index PATH… --out {folder}` again: undamaged parts are kept and the rest is repaired"


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def index_file(folder: Path, name: str) -> Path:
    """Return the path of the current version of a file; IndexingError if there is no index."""
    return folder / require_manifest(folder).file(name)


def find_damage(manifest: Manifest, folder: Path, *names: str, note_from: int | None = None) -> str | None:
    """Return a description of the first damaged file of some names, by default of all; None if there is none.

    Checked files are recorded and not read again while size and times are unchanged; this applies to indexes of at least `note_from` bytes,
    by default `LARGE_FILE_BYTES`, as smaller ones are quickly compared.
    """
    checked, now = _checked_states(folder), _file_states(manifest, folder)
    for name in names or manifest.sha256:
        path = folder / name
        if not path.is_file():
            return f"{name} is not a file" if path.exists() else f"{name} is missing"
        if name in checked and checked[name] == now.get(name):
            continue
        try:
            sha256 = file_sha256(path)
        except OSError as error:
            return f"{name} cannot be read ({error.strerror})"
        if sha256 != manifest.sha256[name]:
            return f"{name} is damaged: its checksum is not the one in {MANIFEST}"
    if not names and now != checked and now == _file_states(manifest, folder):
        record_checked(manifest, folder, note_from)
    return None


def is_whole(manifest: Manifest, folder: Path, *names: str) -> bool:
    """Return whether the index has these files, and they match the manifest."""
    files = [name for name in manifest.sha256 if split_version(name)[0] in names]
    return len(files) == len(names) and (not files or find_damage(manifest, folder, *files) is None)


def _checked_states(folder: Path) -> dict[str, list[int | str]]:
    with suppress(OSError, ValueError):
        recorded = json.loads((folder / CHECKED_FILE).read_text(encoding="utf-8"))
        return recorded if isinstance(recorded, dict) else {}
    return {}


def record_checked(manifest: Manifest, folder: Path, note_from: int | None = None) -> None:
    """Record that the files match the manifest; without write access nothing is recorded."""
    now = _file_states(manifest, folder)
    if sum(int(size) for _, size, *_ in now.values()) < (LARGE_FILE_BYTES if note_from is None else note_from):
        return
    with suppress(OSError):
        part = folder / f"{CHECKED_FILE}.part"
        with create_files(part):
            part.write_text(json.dumps(now), encoding="utf-8")
            part.replace(folder / CHECKED_FILE)


def _file_states(manifest: Manifest, folder: Path) -> dict[str, list[int | str]]:
    """Return checksum, size, times and inode of each file that exists."""
    states: dict[str, list[int | str]] = {}
    for name, sha256 in sorted(manifest.sha256.items()):
        with suppress(OSError):
            state = (folder / name).stat()
            # Copies keep size and modification time, but not inode and change time.
            states[name] = [sha256, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
    return states


def index_files(folder: Path) -> list[Path]:
    """Return the files in a folder that have names of an index's files, of any version."""
    with suppress(OSError):
        return [path for path in folder.iterdir() if split_version(path.name)[0] in _FILES]
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
        if path not in used and (split_version(name)[0] in _FILES or path.name == f"next.{MANIFEST}"):
            with suppress(OSError):
                path.unlink()


LOCK_FILE = ".writing"
_LOCK_TIMEOUT_S = 0.5
"""Seconds to wait for the lock: a reader that checks for a writer holds it briefly."""
_COUNT_TIMEOUT_S = 1.0
"""Seconds a reader waits for a writer's commit to count its passages."""
_MAX_FILES_CHECKED = 10_000
"""Maximum number of files checked to find out whether a folder contains documents."""
_REMEDY = "give --out a folder of its own"


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
            lock.execute("BEGIN EXCLUSIVE")
            yield
    except (OSError, sqlite3.OperationalError) as error:
        if "locked" in str(error):
            raise IndexingError(f"another process is writing the index in {str(folder)!r}", "wait until it has finished") from error
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
