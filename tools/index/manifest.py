"""The manifest of an index: its options and checksums; and checks and locks of its folder."""

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, get_args

from pydantic import ConfigDict, NonNegativeInt, PositiveInt, TypeAdapter, ValidationError
from pydantic_core import from_json

from ramify.tools.documents.files import INDEX_FILE
from ramify.tools.embeddings.encoder import Prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.chunking import Chunking
from ramify.tools.new_files import create_files, sync

PASSAGES = INDEX_FILE
VECTORS = "vectors.faiss"
SLOTS = "slots.npy"
POSTINGS_FILES = ("words.counts.npy", "words.slots.npy", "words.ends.npy", "words.lengths.npy", "words.json")
"""The files of the postings of a large index."""
MANIFEST = "manifest.json"
UNFINISHED = "unfinished.json"
"""The manifest, without checksums, of a new index whose vectors are still being computed."""
IndexKind = Literal["passages", "graph", "hierarchy"]
"""The kind of an index: only passages, or also a graph of names, or a hierarchy of groups and summaries."""
STRUCTURE_FILES: dict[IndexKind, frozenset[str]] = {
    "passages": frozenset(),
    "graph": frozenset({"graph.sqlite"}),
    "hierarchy": frozenset({"hierarchy.zlib"}),
}
"""The additional files of each kind."""
FILES = frozenset({PASSAGES, VECTORS, SLOTS, UNFINISHED, *POSTINGS_FILES}).union(*STRUCTURE_FILES.values())
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
    files: NonNegativeInt = 0
    """The number of files that its documents are from; 0 if they are of a program, or this was not counted yet."""
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

    def prepare(self, folder: Path, name: str = MANIFEST) -> Path:
        """Write the manifest to a file that `commit` puts in its place, when the index's files are on the disk."""
        part = folder / f"{name}.part"
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


def read_unfinished(folder: Path) -> Manifest | None:
    """Return the manifest of an index whose vectors are being computed; None if it is finished, or its passages are not stored."""
    if (folder / MANIFEST).exists():
        return None
    with suppress(OSError, ValueError):  # replaced or deleted meanwhile, or damaged: built again
        return _ADAPTER.validate_json((folder / UNFINISHED).read_bytes())
    return None


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
