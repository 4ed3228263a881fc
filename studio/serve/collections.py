"""Collections that users create, of uploaded documents or of a folder that the operator allowed; and folders that are watched."""

import asyncio
import re
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from ramify.studio.serve.catalog import MAX_QUOTED_CHARS, Catalog, Collection
from ramify.studio.serve.questions import Event, to_failure
from ramify.studio.server.bounds import allow_index
from ramify.tools.errors import InputError, RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import Built
from ramify.tools.index.index_store import is_store_address
from ramify.tools.index.manifest import MANIFEST, PASSAGES
from ramify.tools.index.passage_store import FileList, read_file_list
from ramify.tools.index.progress import Progress
from ramify.tools.index.searcher import DEMO
from ramify.tools.index.watching import watch
from ramify.tools.new_files import make_folder, write_atomically
from ramify.tools.quoting import truncate_line

MAX_FILE_BYTES, MAX_COLLECTION_BYTES, MAX_FILES = 200 * 2**20, 2 * 2**30, 10_000
"""Limits of a document and of a collection."""
MAX_LISTED = 2000
"""Maximum number of documents in a list."""
REPORT_INTERVAL_S = 0.2
"""Seconds between two progress events of a build."""
MIN_RATE_TIME_S = 1.0
"""Seconds after which a rate is reported."""
_NAME = re.compile(r"\w[\w.-]{0,39}")
_FILE_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f/\\]+")
_MAX_FILE_NAME_BYTES = 200
_INDEX_FOLDER, _DOCUMENTS_FOLDER, _RECORD_FILE = "index", "documents", "collection.json"


class BuildJob:
    """A running or finished build: its progress and its result. It is the progress callback of `Index.build`, which runs in a thread."""

    def __init__(self) -> None:
        self.stopped = False
        self.end: Event | None = None
        """The event with the result or error; None while the build runs."""
        self._progress: dict[str, Any] = {}
        self._started = time.monotonic()
        self._unit = ""

    def __call__(self, done: int, total: int | None, unit: str) -> None:
        """Record the progress; raise RamifyError if the build is to stop."""
        if self.stopped:
            raise RamifyError("indexing was stopped", "index again: it resumes where it stopped")
        now = time.monotonic()
        if unit != self._unit:
            self._unit, self._started = unit, now
        rate = round(done / (now - self._started), 3) if done and now - self._started >= MIN_RATE_TIME_S else None
        remaining = round((total - done) / rate, 1) if total is not None and rate else None
        self._progress = {"unit": unit, "done": done, "total": total, "rate": rate, "rest_s": remaining}

    async def events(self) -> AsyncIterator[Event]:
        """Yield progress events, and at the end the event `built` or `error`."""
        reported: dict[str, Any] = {}
        while self.end is None:
            if self._progress != reported:
                yield Event("progress", reported := self._progress)
            await asyncio.sleep(REPORT_INTERVAL_S)
        yield self.end


class _CollectionRecord(BaseModel):
    """The stored record of a collection: the folder of its documents, or None if they are uploaded, and the user who created it."""

    folder: Path | None
    user: str


def _read_record(path: Path) -> _CollectionRecord:
    try:
        return _CollectionRecord.model_validate_json(path.read_bytes())
    except ValidationError as error:
        remedy = f"restore it, or remove {str(path.parent)!r} with the documents and index in it"
        raise InputError(f"{str(path)!r} is not a valid record of a collection", remedy) from error


@dataclass
class _UserCollection:
    """A collection created on this server: its folder, the folder of its documents unless uploaded, its user, and its last build."""

    path: Path
    source: Path | None
    user: str
    build: BuildJob | None = None
    task: asyncio.Task[None] | None = None

    @property
    def running_build(self) -> BuildJob | None:
        """Return the running build, if any."""
        return self.build if self.build is not None and self.build.end is None else None

    @property
    def uploads_folder(self) -> Path:
        """Return the folder of uploaded documents; raise UsageError if the collection is of another folder."""
        if self.source is not None:
            what = f"the documents of {self.path.name!r} are in the folder {str(self.source)!r}"
            raise UsageError(what, "change them there, and index again")
        return self.path / _DOCUMENTS_FOLDER


class UserCollections:
    """The collections stored below the folder `root` of the server; they are added to the catalog when they are indexed.

    With `separate_users` (users with tokens), each user can change only the collections that they created.
    """

    def __init__(self, catalog: Catalog, root: Path, folders: Sequence[Path] = (), separate_users: bool = False) -> None:
        self._catalog, self._root, self._separate_users = catalog, root, separate_users
        self.folders = [folder.resolve() for folder in folders]
        self._by_name: dict[str, _UserCollection] = {}
        self._build_lock = asyncio.Lock()
        for record in sorted(root.glob(f"*/{_RECORD_FILE}")):
            if (name := record.parent.name) not in catalog.collections and _NAME.fullmatch(name):
                content = _read_record(record)
                self._by_name[name] = _UserCollection(record.parent, content.folder, content.user)
                self._add_to_catalog(name)

    def list_collections(self, user: str) -> list[dict[str, Any]]:
        """Return all collections; those created here with their folder, whether they are being indexed, and changeable. Blocking."""
        listed = [collection.to_json() for collection in self._catalog.collections.values()]
        names = {entry["name"] for entry in listed}
        not_indexed: dict[str, Any] = {"kind": "passages", "documents": None, "passages": None, "description": ""}
        listed += [{"name": name, "path": name, **not_indexed} for name in sorted(self._by_name.keys() - names)]
        for entry in listed:
            if (collection := self._by_name.get(entry["name"])) is not None:
                folder = str(collection.source) if collection.source else ""
                entry |= {"path": entry["name"], "folder": folder, "building": collection.running_build is not None}
                entry["changeable"] = self._can_change(user, collection)
        return listed

    def create(self, user: str, name: str, folder: str | None = None) -> str:
        """Create a collection, or find the user's own of this name and folder; return its name, numbered if it is in use. Blocking."""
        if not _NAME.fullmatch(name) or name == DEMO:
            raise UsageError(
                f"{truncate_line(repr(name), MAX_QUOTED_CHARS)} is not a valid collection name", "use up to 40 letters, digits, _, . and -"
            )
        source = None if folder is None else self._check_source(folder)
        for number in range(1, len(self._by_name) + len(self._catalog.collections) + 2):
            unique_name = name if number == 1 else f"{name[:36]}-{number}"
            existing = self._by_name.get(unique_name)
            if existing is not None and existing.source == source and self._can_change(user, existing):
                return unique_name
            if existing is None and unique_name not in self._catalog.collections:
                break
        path = self._root / unique_name
        make_folder(path / _DOCUMENTS_FOLDER)
        write_atomically(_CollectionRecord(folder=source, user=user).model_dump_json(), path / _RECORD_FILE)
        self._by_name[unique_name] = _UserCollection(path, source, user)
        return unique_name

    def list_documents(self, name: str) -> dict[str, Any]:
        """Return the documents of a collection with their numbers of passages, and the skipped ones with the reason. Blocking."""
        file_list, not_indexed, collection = FileList(), set[str](), self._by_name.get(name)
        if collection is not None and collection.source is None:
            not_indexed = {file.name for file in collection.uploads_folder.iterdir()}
        if collection is None or name in self._catalog.collections:
            where = self._catalog.collection(name).where
            file_list = FileList() if where == DEMO or "://" in where or not Path(where).is_dir() else read_file_list(Path(where))
        skipped = [{"name": source, "reason": reason} for source, reason in file_list.unread]
        counts = {file.source: file.searched + sum(file.left_out.values()) for file in file_list.files}
        not_indexed -= {*counts, *(source for source, _ in file_list.unread)}
        files = [{"name": file, "passages": count} for file, count in (*((file, 0) for file in sorted(not_indexed)), *counts.items())]
        omitted = max(len(files) - MAX_LISTED, 0) + max(len(skipped) - MAX_LISTED, 0)
        uploaded = collection is not None and collection.source is None
        return {"files": files[:MAX_LISTED], "skipped": skipped[:MAX_LISTED], "more": omitted, "uploaded": uploaded}

    def append_upload(self, user: str, name: str, file: str, offset: int, content: bytes) -> int:
        """Append a chunk to an uploaded document, and return its size in bytes; raise UsageError beyond a limit. Blocking."""
        folder = self._find_idle(user, name).uploads_folder
        path = folder / _check_file_name(file)
        existing = list(folder.iterdir())
        size = path.stat().st_size if offset and path.exists() else 0
        if offset != size:
            raise UsageError(f"the chunk at {offset} of {file!r} does not follow the {size} bytes received", "send the file again from 0")
        if path not in existing and len(existing) >= MAX_FILES:
            raise UsageError(f"the collection {name!r} already has {MAX_FILES:,} documents", "index a folder of the server instead")
        if size + len(content) > MAX_FILE_BYTES:
            raise UsageError(f"{file!r} is larger than {MAX_FILE_BYTES:,} bytes", "index its folder on the server instead")
        if sum(one.stat().st_size for one in existing if one != path) + size + len(content) > MAX_COLLECTION_BYTES:
            raise UsageError(f"the collection {name!r} would be larger than {MAX_COLLECTION_BYTES:,} bytes", "make another one")
        with path.open("ab" if offset else "wb") as file_object:
            file_object.write(content)
        return size + len(content)

    def delete_document(self, user: str, name: str, file: str) -> bool:
        """Delete an uploaded document; return whether there was one. Blocking."""
        path = self._find_idle(user, name).uploads_folder / _check_file_name(file.partition("#")[0])
        if not path.is_file():
            return False
        path.unlink()
        return True

    def delete(self, user: str, name: str) -> None:
        """Delete a collection with its index and uploads; documents in a folder of the server are not deleted. Blocking."""
        collection = self._find_idle(user, name)
        self._catalog.collections.pop(name, None)
        del self._by_name[name]
        shutil.rmtree(collection.path)

    def start_indexing(self, user: str, name: str) -> None:
        """Start indexing a collection; raise UsageError if it is being indexed."""
        collection = self._find_idle(user, name)
        collection.build = BuildJob()
        collection.task = asyncio.create_task(self._run_build(collection, collection.build))

    def find_build(self, name: str) -> BuildJob | None:
        """Return the running or last build of a collection."""
        collection = self._by_name.get(name)
        return None if collection is None else collection.build

    def stop_indexing(self, user: str, name: str) -> bool:
        """Stop indexing a collection, which can be resumed; return whether it was being indexed."""
        if (running_build := self._find_owned(user, name).running_build) is None:
            return False
        running_build.stopped = True
        return True

    async def close(self) -> None:
        """Stop all builds."""
        for collection in self._by_name.values():
            if collection.build is not None:
                collection.build.stopped = True
        await asyncio.gather(
            *(collection.task for collection in self._by_name.values() if collection.task is not None), return_exceptions=True
        )

    async def _run_build(self, collection: _UserCollection, build: BuildJob) -> None:
        try:
            async with self._build_lock:
                build(0, None, "documents")
                source = collection.uploads_folder if collection.source is None else self._check_source(str(collection.source))
                summary = await asyncio.to_thread(Index.build, [source], collection.path / _INDEX_FOLDER, progress=build)
        except Exception as error:  # noqa: BLE001 - reported to the user
            build.end = Event("error", to_failure(error).to_json())
        else:
            self._add_to_catalog(collection.path.name)
            build.end = Event("built", _build_summary(summary))

    def _add_to_catalog(self, name: str) -> None:
        """Add a collection to the catalog if it has been indexed."""
        path = self._root / name / _INDEX_FOLDER
        if (path / MANIFEST).exists():
            allow_index(path)
            self._catalog.collections[name] = Collection(name, str(path))

    def _find_idle(self, user: str, name: str) -> _UserCollection:
        """Return a collection that the user may change and that is not being indexed; raise UsageError for any other."""
        collection = self._find_owned(user, name)
        if collection.running_build is not None:
            raise UsageError(f"the collection {name!r} is being indexed", "wait for it, or stop it")
        return collection

    def _find_owned(self, user: str, name: str) -> _UserCollection:
        """Return a collection that the user may change; raise UsageError for any other."""
        if (collection := self._by_name.get(name)) is None:
            what = f"no collection {truncate_line(repr(name), MAX_QUOTED_CHARS)} was made on this server"
            raise UsageError(what, "create one, or change its index with `ramify index`")
        if not self._can_change(user, collection):
            raise UsageError(f"the collection {name!r} was made by another user", "ask them, or create one of your own")
        return collection

    def _can_change(self, user: str, collection: _UserCollection) -> bool:
        return not self._separate_users or collection.user == user

    def _check_source(self, folder: str) -> Path:
        """Return the resolved path of a folder that is, or is below, an allowed one; raise UsageError for any other."""
        path = Path(folder).expanduser().resolve() if "\x00" not in folder else Path()
        if not any(path.is_relative_to(allowed) for allowed in self.folders):
            raise UsageError(
                f"the folder {truncate_line(repr(folder), MAX_QUOTED_CHARS)} is not allowed for collections",
                "start the server with --documents DIR",
            )
        if not path.is_dir():
            raise UsageError(f"there is no folder {truncate_line(repr(folder), MAX_QUOTED_CHARS)}", "give an existing folder")
        return path


def _check_file_name(name: str) -> str:
    """Return a file name that cannot lead out of its folder; raise UsageError for any other."""
    if (
        not _FILE_NAME.fullmatch(name)
        or name.startswith(".")
        or len(name.encode(errors="replace")) > _MAX_FILE_NAME_BYTES
        or not name.isprintable()
    ):
        raise UsageError(
            f"{truncate_line(repr(name), MAX_QUOTED_CHARS)} is not a valid document name", "give the name of a file without its folder"
        )
    return name


def _build_summary(summary: Built) -> dict[str, Any]:
    names = ("added", "changed", "unchanged", "removed", "documents", "passages", "seconds")
    skipped = [{"name": name, "reason": reason} for name, reason in summary.skipped[:MAX_LISTED]]
    return {**{name: getattr(summary, name) for name in names}, "skipped": skipped}


class WatchedFolder:
    """A watched folder and its index: the time of the last update, and the last problem."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        self._updated: str | None = None
        self._problem = ""

    def build_if_missing(self, progress: Progress) -> None:
        """Index the folder if it has no index yet, so that the first question finds passages. Blocking."""
        if not (Path(self.where) / MANIFEST).exists():
            Index.build([self.folder], self.where, progress=progress)

    async def run(self) -> None:
        """Keep the index up to date until cancelled; an error that ends this is shown in the list of collections."""
        try:
            await watch([self.folder], self.where, self._record_build)
        except Exception as error:  # noqa: BLE001 - reported to the user
            self._problem = to_failure(error).message

    def to_json(self) -> dict[str, Any]:
        """Return the folder's name, the time of the last update, and the last problem."""
        return {"folder": self.folder.name, "updated": self._updated, "problem": self._problem}

    def _record_build(self, outcome: Built | RamifyError) -> None:
        if isinstance(outcome, RamifyError):
            self._problem = str(outcome)
        else:
            self._updated, self._problem = datetime.now(UTC).isoformat(timespec="seconds"), ""


def create_watched_folders(folders: Sequence[Path], indexes: Sequence[str], root: Path) -> list[WatchedFolder]:
    """Return each folder with the index that was built of it alone, else with a new one below `root`. Blocking."""
    index_of = {source: where for where in indexes if (source := _source_folder(where)) is not None}
    watched = []
    for folder in dict.fromkeys(path.resolve() for path in folders):
        new_index = root / sha256(bytes(folder)).hexdigest()[:12] / (folder.name or "index")
        watched.append(WatchedFolder(folder, index_of.get(folder) or str(new_index)))
    return watched


def _source_folder(where: str) -> Path | None:
    """Return the only folder that an index was built of; None if there is no index, or several folders."""
    if is_store_address(where) or not (Path(where) / PASSAGES).exists():
        return None
    roots = {Path(file.root).resolve() for file in read_file_list(Path(where)).files}
    return roots.pop() if len(roots) == 1 else None
