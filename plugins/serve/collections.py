"""Collections that users create, of uploaded documents or of a folder that the operator allowed; and folders that are watched."""

import asyncio
import os
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from ramify.serve._build_jobs import DOCUMENTS, MAX_DOCUMENTS, MAX_LISTED, BuildJob, build_summary
from ramify.serve._collection_folders import (
    INDEX_FOLDER,
    RECORD_FILE,
    CollectionRecord,
    Uploads,
    check_file_name,
    create_folder,
    move_to_trash,
    read_record,
    remove_folder,
    sweep,
)
from ramify.serve.catalog import MAX_QUOTED_CHARS, Catalog, Collection
from ramify.serve.questions import Event, to_failure
from ramify.serve.watching import watch
from ramify.studio.server.bounds import allow_index
from ramify.tools.errors import IndexingError, InputError, RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import Built
from ramify.tools.index.file_list import FileList, read_file_list
from ramify.tools.index.index_store import is_searchable, is_store_address
from ramify.tools.index.progress import PassagesStored, Progress, stop_when_stored
from ramify.tools.quoting import truncate_line
from ramify.tools.search.searcher import DEMO
from ramify.tools.user_input import expand_path

MAX_FILE_BYTES, MAX_COLLECTION_BYTES, MAX_FILES = 200 * 2**20, 2 * 2**30, 10_000
"""Limits of a document and of a collection."""
MAX_COLLECTIONS = 50
"""Default limit of the collections of a user."""
_NAME = re.compile(r"\w(?:[\w.,()&' -]{0,38}[\w)-])?")
INCOMPLETE = "it was not received completely: send it again"


@dataclass
class _UserCollection:
    """A collection created on this server: its folder, the folder of its documents unless uploaded, its user, and its last build."""

    path: Path
    source: Path | None
    user: str
    error: str = ""
    """Why it can only be deleted: its record is damaged, so that neither its user nor its documents are known."""
    build: BuildJob | None = None
    task: asyncio.Task[None] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while its documents are changed."""

    @property
    def running_build(self) -> BuildJob | None:
        """Return the running build, if any."""
        return self.build if self.build is not None and self.build.end is None else None

    @property
    def uploads(self) -> Uploads:
        """Return the uploaded documents; raise UsageError if the collection is of another folder."""
        if self.source is not None:
            what = f"the documents of {self.path.name!r} are in the folder {str(self.source)!r}"
            raise UsageError(what, "change them there, and index again")
        return Uploads(self.path)


class UserCollections:
    """The collections stored below the folder `root` of the server; they are added to the catalog when they are indexed.

    With `separate_users` (users with tokens), each user can change only the collections that they created, and has at most
    `max_collections`; without, that is the limit of all.
    """

    def __init__(
        self,
        catalog: Catalog,
        root: Path,
        folders: Sequence[Path] = (),
        separate_users: bool = False,
        max_collections: int = MAX_COLLECTIONS,
    ) -> None:
        self._catalog, self._root, self._separate_users, self._max_collections = catalog, root, separate_users, max_collections
        self.folders = [folder.resolve() for folder in folders]
        self._by_name: dict[str, _UserCollection] = {}
        self._lock = threading.Lock()
        """Held while collections are created or deleted, or a build is started."""
        self._build_lock = asyncio.Lock()
        sweep(root)
        for record in sorted(root.glob(f"*/{RECORD_FILE}")):
            if (name := record.parent.name) not in catalog.collections and _NAME.fullmatch(name):
                self._by_name[name] = _open_stored(record.parent)
                if not self._by_name[name].error:
                    self._add_to_catalog(name)

    def list_collections(self, user: str) -> list[dict[str, Any]]:
        """Return all collections; those created here with their folder, whether they are being indexed, and changeable. Blocking."""
        listed = [collection.to_json() for collection in list(self._catalog.collections.values())]
        names = {entry["name"] for entry in listed}
        not_indexed: dict[str, Any] = {"kind": "passages", "documents": None, "passages": None, "description": ""}
        listed += [{"name": name, "path": name, **not_indexed} for name in sorted(set(self._by_name) - names)]
        for entry in listed:
            if (collection := self._by_name.get(entry["name"])) is not None:
                folder = str(collection.source) if collection.source else ""
                entry |= {"path": entry["name"], "folder": folder, "building": collection.running_build is not None}
                entry["changeable"] = self._can_change(user, collection)
                if collection.error:
                    entry["error"] = collection.error
        return listed

    def create(self, user: str, name: str, folder: str | None = None) -> str:
        """Create a collection, or find the user's own of this name and folder; return its name, numbered if it is in use. Blocking."""
        if not _NAME.fullmatch(name) or name == DEMO:
            raise UsageError(
                f"{truncate_line(repr(name), MAX_QUOTED_CHARS)} is not a valid collection name",
                "use up to 40 letters, digits, spaces and . , _ - ( ) & ', and end with a letter, a digit or )",
            )
        source = None if folder is None else self._check_source(folder)
        with self._lock:
            for number in count(1):
                unique_name = name if number == 1 else f"{name[:36]}-{number}"
                existing = self._by_name.get(unique_name)
                if existing is not None and not existing.error and existing.source == source and self._can_change(user, existing):
                    return unique_name
                if existing is None and unique_name not in self._catalog.collections and not os.path.lexists(self._root / unique_name):
                    break
            if sum(self._can_change(user, collection) for collection in self._by_name.values()) >= self._max_collections:
                what = f"there are {self._max_collections} collections of yours, as many as this server allows"
                raise HTTPException(409, f"{what} — delete one, or add documents to one")
            path = self._root / unique_name
            create_folder(path, CollectionRecord(folder=source, user=user))
            self._by_name[unique_name] = _UserCollection(path, source, user)
        return unique_name

    def list_documents(self, name: str) -> dict[str, Any]:
        """Return the documents of a collection with their numbers of passages, remarks, and the id of their first passage; blocking.

        Also the skipped ones, with the reason.
        """
        file_list, not_indexed, incomplete, collection = FileList(), set[str](), list[str](), self._by_name.get(name)
        if collection is not None and collection.source is None:
            not_indexed, incomplete = collection.uploads.complete(), collection.uploads.incomplete()
        if collection is None or name in self._catalog.collections:
            where = self._catalog.collection(name).where
            file_list = FileList() if where == DEMO or "://" in where or not Path(where).is_dir() else read_file_list(Path(where))
        skipped = [{"name": source, "reason": reason} for source, reason in file_list.unread]
        skipped += [{"name": file, "reason": INCOMPLETE} for file in incomplete]
        not_indexed -= {*(file.source for file in file_list.files), *(source for source, _ in file_list.unread)}
        files: list[dict[str, Any]] = [{"name": file, "passages": 0, "remarks": [], "first": ""} for file in sorted(not_indexed)]
        for file in file_list.files:
            stored = file.searched + sum(file.left_out.values())
            files.append({"name": file.source, "passages": stored, "remarks": list(file.remarks), "first": file.first})
        omitted = max(len(files) - MAX_LISTED, 0) + max(len(skipped) - MAX_LISTED, 0)
        uploaded = collection is not None and collection.source is None
        return {"files": files[:MAX_LISTED], "skipped": skipped[:MAX_LISTED], "more": omitted, "uploaded": uploaded}

    def append_upload(self, user: str, name: str, file: str, offset: int, content: bytes, size: int | None = None) -> int:
        """Append a part to an uploaded document of `size` bytes, and return the bytes received; raise UsageError beyond a limit.

        The document is indexed only when it is complete; without `size`, each part completes it. Blocking.
        """
        collection = self._find_idle(user, name)
        uploads, file = collection.uploads, check_file_name(file)
        with collection.lock:
            sizes, new_size = uploads.sizes(), max(offset + len(content), size or 0)
            if file not in sizes and len(sizes) >= MAX_FILES:
                raise UsageError(f"the collection {name!r} already has {MAX_FILES:,} documents", "index a folder of the server instead")
            if new_size > MAX_FILE_BYTES:
                raise UsageError(f"{file!r} is larger than {MAX_FILE_BYTES:,} bytes", "index its folder on the server instead")
            if sum(sizes.values()) - sizes.get(file, 0) + new_size > MAX_COLLECTION_BYTES:
                raise UsageError(f"the collection {name!r} would be larger than {MAX_COLLECTION_BYTES:,} bytes", "make another one")
            return uploads.append(file, offset, content, size)

    def delete_document(self, user: str, name: str, file: str) -> bool:
        """Delete an uploaded document; return whether there was one. Blocking."""
        collection = self._find_idle(user, name)
        with collection.lock:
            return any(collection.uploads.delete(check_file_name(candidate)) for candidate in dict.fromkeys((file, file.partition("#")[0])))

    def delete(self, user: str, name: str) -> None:
        """Delete a collection with its index and uploads; documents in a folder of the server are not deleted. Blocking."""
        with self._lock:
            collection = self._find_idle(user, name, damaged=True)
            trash = move_to_trash(collection.path)
            self._catalog.collections.pop(name, None)
            del self._by_name[name]
        remove_folder(trash)  # without the lock, which starting to index waits for

    def start_indexing(self, user: str, name: str) -> None:
        """Start indexing a collection; raise UsageError if it is being indexed."""
        with self._lock:
            collection = self._find_idle(user, name)
            collection.build = BuildJob(MAX_DOCUMENTS if collection.source is None else None, partial(self._add_to_catalog, name))
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
        collections = list(self._by_name.values())
        for collection in collections:
            if collection.build is not None:
                collection.build.stopped = True
        await asyncio.gather(*(collection.task for collection in collections if collection.task is not None), return_exceptions=True)

    async def _run_build(self, collection: _UserCollection, build: BuildJob) -> None:
        try:
            async with self._build_lock:
                build(0, None, DOCUMENTS)
                source = collection.uploads.documents if collection.source is None else self._check_source(str(collection.source))
                summary = await asyncio.to_thread(Index.build, [source], collection.path / INDEX_FOLDER, progress=build)
        except Exception as error:  # noqa: BLE001 - reported to the user
            if not is_searchable(collection.path / INDEX_FOLDER):  # what was stored is deleted where no vector was computed
                self._catalog.collections.pop(collection.path.name, None)
            build.end = Event("error", to_failure(error).to_json())
        else:
            self._add_to_catalog(collection.path.name)
            build.end = Event("built", build_summary(summary))

    def _add_to_catalog(self, name: str) -> None:
        """Add a collection to the catalog if it can be searched."""
        path = self._root / name / INDEX_FOLDER
        if is_searchable(path):
            allow_index(path)
            self._catalog.collections[name] = Collection(name, str(path))

    def _find_idle(self, user: str, name: str, damaged: bool = False) -> _UserCollection:
        """Return a collection that the user may change and that is not being indexed; raise UsageError for any other."""
        collection = self._find_owned(user, name)
        if collection.error and not damaged:
            raise UsageError(f"the collection {name!r} is damaged", "delete it, and create another")
        if collection.running_build is not None:
            raise UsageError(f"the collection {name!r} is being indexed", "wait for it, or stop it")
        return collection

    def _find_owned(self, user: str, name: str) -> _UserCollection:
        """Return a collection that the user may change; raise UsageError for any other."""
        if (collection := self._by_name.get(name)) is None:
            what = f"no collection {truncate_line(repr(name), MAX_QUOTED_CHARS)} was made on this server"
            raise UsageError(what, "create one, or change its index with `ramify index`")
        if collection.error and self._separate_users:
            raise UsageError(f"the collection {name!r} is damaged", "ask the operator of the server to restore or remove it")
        if not self._can_change(user, collection):
            raise UsageError(f"the collection {name!r} was made by another user", "ask them, or create one of your own")
        return collection

    def _can_change(self, user: str, collection: _UserCollection) -> bool:
        return not self._separate_users or (collection.user == user and not collection.error)

    def _check_source(self, folder: str) -> Path:
        """Return the resolved path of a folder that is, or is below, an allowed one; raise UsageError for any other."""
        try:
            path = expand_path(folder).resolve()
        except (RamifyError, OSError, RuntimeError):  # an impossible path, or one that may not be read
            path = Path()
        if not any(path.is_relative_to(allowed) for allowed in self.folders):
            raise UsageError(
                f"the folder {truncate_line(repr(folder), MAX_QUOTED_CHARS)} is not allowed for collections",
                "start the server with --documents DIR",
            )
        if not path.is_dir():
            raise UsageError(f"there is no folder {truncate_line(repr(folder), MAX_QUOTED_CHARS)}", "give an existing folder")
        return path


def _open_stored(path: Path) -> _UserCollection:
    """Return a stored collection; one with a damaged record has an error."""
    try:
        record = read_record(path)
    except InputError as error:
        return _UserCollection(path, None, "", to_failure(error).message)
    return _UserCollection(path, record.folder, record.user)


class WatchedFolder:
    """A watched folder and its index: the time of the last update, and the last problem."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        self._updated: str | None = None
        self._problem = ""
        self.on_update: Callable[[], None] = lambda: None
        """Called in the event loop after the first build, and after each that changed the index."""

    def build_if_missing(self, progress: Progress) -> None:
        """Store the passages of the folder if it has no index yet, so that the first question finds them by words. Blocking."""
        if not is_searchable(Path(self.where)):
            with suppress(PassagesStored):
                Index.build([self.folder], self.where, progress=partial(stop_when_stored, progress))

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
            self._problem = to_failure(outcome).message
        else:
            is_first = self._updated is None
            self._updated, self._problem = datetime.now(UTC).isoformat(timespec="seconds"), ""
            if is_first or outcome.added or outcome.changed or outcome.removed:
                self.on_update()


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
    if is_store_address(where) or not is_searchable(Path(where)):
        return None
    try:
        files = read_file_list(Path(where)).files
    except IndexingError:  # the index is damaged, and listed as such
        return None
    roots = {Path(file.root).resolve() for file in files}
    return roots.pop() if len(roots) == 1 else None
