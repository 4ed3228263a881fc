"""Collections that are made at the server, of documents that are sent to it or of a folder that was released; and those that follow one."""

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

from ramify.studio.serve.catalog import QUOTED, Catalog, Collection
from ramify.studio.serve.questions import Event, failure_of
from ramify.studio.server.bounds import allow
from ramify.tools.errors import InputError, RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import Built
from ramify.tools.index.index_store import is_address
from ramify.tools.index.manifest import MANIFEST, PASSAGES
from ramify.tools.index.passage_store import FileList, listed_files
from ramify.tools.index.progress import Progress
from ramify.tools.index.searcher import DEMO
from ramify.tools.index.watching import watch
from ramify.tools.new_files import make_folder, write_atomically
from ramify.tools.quoting import truncate_line

FILE_BYTES, COLLECTION_BYTES, FILES = 200 * 2**20, 2 * 2**30, 10_000
"""The most that a document and a collection may hold."""
LISTED = 2000
"""Documents that are listed."""
TOLD_S = 0.2
"""Seconds between two reports on a build."""
MEASURED_S = 1.0
"""Seconds after which a rate says something."""
_NAME = re.compile(r"\w[\w.-]{0,39}")
_FILE = re.compile(r"[^\x00-\x1f\x7f-\x9f/\\]+")
_LONGEST_FILE = 200
_INDEX, _DOCUMENTS, _RECORD = "index", "documents", "collection.json"


class Build:
    """A build that runs or has ended: how far it is, and what came of it. It is called by `Index.build` in a thread of its own."""

    def __init__(self) -> None:
        self.stopped = False
        self.end: Event | None = None
        """How it ended."""
        self._progress: dict[str, Any] = {}
        self._began = time.monotonic()
        self._unit = ""

    def __call__(self, done: int, total: int | None, unit: str) -> None:
        """Take in how far it is; RamifyError where it is to stop."""
        if self.stopped:
            raise RamifyError("indexing was stopped", "index again: what is done so far is kept")
        now = time.monotonic()
        if unit != self._unit:
            self._unit, self._began = unit, now
        rate = round(done / (now - self._began), 3) if done and now - self._began >= MEASURED_S else None
        rest = round((total - done) / rate, 1) if total is not None and rate else None
        self._progress = {"unit": unit, "done": done, "total": total, "rate": rate, "rest_s": rest}

    async def events(self) -> AsyncIterator[Event]:
        """Yield how far it is until its end."""
        told: dict[str, Any] = {}
        while self.end is None:
            if self._progress != told:
                yield Event("progress", told := self._progress)
            await asyncio.sleep(TOLD_S)
        yield self.end


class _Record(BaseModel):
    """What is kept of a collection: the folder of its documents if they were not sent, and who made it."""

    folder: Path | None
    user: str


def _read_record(path: Path) -> _Record:
    try:
        return _Record.model_validate_json(path.read_bytes())
    except ValidationError as error:
        remedy = f"restore it, or remove {str(path.parent)!r}: its documents and their index go with it"
        raise InputError(f"{str(path)!r} does not say what collection it is of", remedy) from error


@dataclass
class _Made:
    """A collection that was made here: where it lies, the folder of its documents if they were not sent, who made it, its last build."""

    place: Path
    folder: Path | None
    user: str
    build: Build | None = None
    task: asyncio.Task[None] | None = None

    @property
    def running(self) -> Build | None:
        """Return the build that runs."""
        return self.build if self.build is not None and self.build.end is None else None

    @property
    def uploads(self) -> Path:
        """Return where the documents are kept that were sent; UsageError where they lie in a folder of their own."""
        if self.folder is not None:
            what = f"the documents of {self.place.name!r} lie in {str(self.folder)!r}"
            raise UsageError(what, "change them there, and index again")
        return self.place / _DOCUMENTS


class Collections:
    """The collections below a folder of the server, which join the catalog's when they are indexed.

    Where users are `told_apart` by tokens, each changes only what they made.
    """

    def __init__(self, catalog: Catalog, home: Path, folders: Sequence[Path] = (), told_apart: bool = False) -> None:
        self._catalog, self._home, self._told_apart = catalog, home, told_apart
        self.folders = [folder.resolve() for folder in folders]
        self._made: dict[str, _Made] = {}
        self._one_at_a_time = asyncio.Lock()
        for record in sorted(home.glob(f"*/{_RECORD}")):
            if (name := record.parent.name) not in catalog.collections and _NAME.fullmatch(name):
                told = _read_record(record)
                self._made[name] = _Made(record.parent, told.folder, told.user)
                self._offer(name)

    def listed(self, user: str) -> list[dict[str, Any]]:
        """List all collections; those made here tell their folder, too, and whether they are being indexed and the user's. Blocking."""
        found = [collection.to_json() for collection in self._catalog.collections.values()]
        known = {told["name"] for told in found}
        empty: dict[str, Any] = {"kind": "passages", "documents": None, "passages": None, "description": ""}
        found += [{"name": name, "path": name, **empty} for name in sorted(self._made.keys() - known)]
        for told in found:
            if (made := self._made.get(told["name"])) is not None:
                folder = str(made.folder) if made.folder else ""
                told |= {"path": told["name"], "folder": folder, "building": made.running is not None}
                told["changeable"] = self._may_change(user, made)
        return found

    def make(self, user: str, name: str, folder: str | None = None) -> str:
        """Make a collection, or return the user's own of the same name and origin; a name that is taken is numbered. Blocking."""
        if not _NAME.fullmatch(name) or name == DEMO:
            raise UsageError(f"{truncate_line(repr(name), QUOTED)} is no name of a collection", "take up to 40 letters, digits, _, . and -")
        source = None if folder is None else self._released(folder)
        for number in range(1, len(self._made) + len(self._catalog.collections) + 2):
            wanted = name if number == 1 else f"{name[:36]}-{number}"
            made = self._made.get(wanted)
            if made is not None and made.folder == source and self._may_change(user, made):
                return wanted
            if made is None and wanted not in self._catalog.collections:
                break
        place = self._home / wanted
        make_folder(place / _DOCUMENTS)
        write_atomically(_Record(folder=source, user=user).model_dump_json(), place / _RECORD)
        self._made[wanted] = _Made(place, source, user)
        return wanted

    def documents(self, name: str) -> dict[str, Any]:
        """List the documents of a collection, those that are indexed and those that were skipped, with the reason. Blocking."""
        listed, waiting, made = FileList(), set[str](), self._made.get(name)
        if made is not None and made.folder is None:
            waiting = {file.name for file in made.uploads.iterdir()}
        if made is None or name in self._catalog.collections:
            where = self._catalog.collection(name).where
            listed = FileList() if where == DEMO or "://" in where or not Path(where).is_dir() else listed_files(Path(where))
        skipped = [{"name": source, "reason": reason} for source, reason in listed.unread]
        counts = {file.source: file.searched + sum(file.left_out.values()) for file in listed.files}
        waiting -= {*counts, *(source for source, _ in listed.unread)}
        told = [{"name": file, "passages": count} for file, count in (*((file, 0) for file in sorted(waiting)), *counts.items())]
        more = max(len(told) - LISTED, 0) + max(len(skipped) - LISTED, 0)
        uploaded = made is not None and made.folder is None
        return {"files": told[:LISTED], "skipped": skipped[:LISTED], "more": more, "uploaded": uploaded}

    def receive(self, user: str, name: str, file: str, offset: int, content: bytes) -> int:
        """Write a part of a document behind those that came before, and return its size; UsageError beyond a limit. Blocking."""
        folder = self._checked(user, name).uploads
        path = folder / _file_name(file)
        there = list(folder.iterdir())
        held = path.stat().st_size if offset and path.exists() else 0
        if offset != held:
            raise UsageError(f"the part at {offset} of {file!r} does not follow what came before ({held} bytes)", "send it anew from 0")
        if path not in there and len(there) >= FILES:
            raise UsageError(f"the collection {name!r} has {FILES:,} documents already", "index a folder of the server instead")
        if held + len(content) > FILE_BYTES:
            raise UsageError(f"{file!r} is larger than {FILE_BYTES:,} bytes", "index its folder on the server instead")
        if sum(one.stat().st_size for one in there if one != path) + held + len(content) > COLLECTION_BYTES:
            raise UsageError(f"the collection {name!r} would be larger than {COLLECTION_BYTES:,} bytes", "make another one")
        with path.open("ab" if offset else "wb") as writing:
            writing.write(content)
        return held + len(content)

    def remove(self, user: str, name: str, file: str) -> bool:
        """Delete a document that was sent; return whether there was one. Blocking."""
        path = self._checked(user, name).uploads / _file_name(file.partition("#")[0])
        if not path.is_file():
            return False
        path.unlink()
        return True

    def delete(self, user: str, name: str) -> None:
        """Delete a collection with its index and what was sent for it; documents in a folder of the server stay. Blocking."""
        made = self._checked(user, name)
        self._catalog.collections.pop(name, None)
        del self._made[name]
        shutil.rmtree(made.place)

    def index(self, user: str, name: str) -> None:
        """Begin to index a collection; UsageError where that is under way."""
        made = self._checked(user, name)
        made.build = Build()
        made.task = asyncio.create_task(self._index(made, made.build))

    def build(self, name: str) -> Build | None:
        """Return the build of a collection that runs, or ran last."""
        made = self._made.get(name)
        return None if made is None else made.build

    def stop(self, user: str, name: str) -> bool:
        """Stop indexing a collection, where what is done so far is kept; return whether it was under way."""
        if (running := self._owned(user, name).running) is None:
            return False
        running.stopped = True
        return True

    async def close(self) -> None:
        """Stop what is being indexed."""
        for made in self._made.values():
            if made.build is not None:
                made.build.stopped = True
        await asyncio.gather(*(made.task for made in self._made.values() if made.task is not None), return_exceptions=True)

    async def _index(self, made: _Made, build: Build) -> None:
        try:
            async with self._one_at_a_time:
                build(0, None, "documents")
                source = made.uploads if made.folder is None else self._released(str(made.folder))
                built = await asyncio.to_thread(Index.build, [source], made.place / _INDEX, progress=build)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            build.end = Event("error", failure_of(error).to_json())
        else:
            self._offer(made.place.name)
            build.end = Event("built", _told(built))

    def _offer(self, name: str) -> None:
        """Add a collection to those that can be asked, if it has been indexed."""
        place = self._home / name / _INDEX
        if (place / MANIFEST).exists():
            allow(place)
            self._catalog.collections[name] = Collection(name, str(place))

    def _checked(self, user: str, name: str) -> _Made:
        """Return a collection that the user may change and that is not being indexed."""
        made = self._owned(user, name)
        if made.running is not None:
            raise UsageError(f"the collection {name!r} is being indexed", "wait for it, or stop it")
        return made

    def _owned(self, user: str, name: str) -> _Made:
        """Return a collection that the user may change."""
        if (made := self._made.get(name)) is None:
            what = f"there is no collection {truncate_line(repr(name), QUOTED)} that was made here"
            raise UsageError(what, "make one, or change its index itself")
        if not self._may_change(user, made):
            raise UsageError(f"the collection {name!r} was made by another user", "ask them, or make one of your own")
        return made

    def _may_change(self, user: str, made: _Made) -> bool:
        return not self._told_apart or made.user == user

    def _released(self, folder: str) -> Path:
        """Return a folder that is one of those released, or lies under one, links resolved; UsageError for any other."""
        place = Path(folder).expanduser().resolve() if "\x00" not in folder else Path()
        if not any(place.is_relative_to(released) for released in self.folders):
            raise UsageError(f"the folder {truncate_line(repr(folder), QUOTED)} is not released", "start the server with --documents DIR")
        if not place.is_dir():
            raise UsageError(f"there is no folder {truncate_line(repr(folder), QUOTED)}", "correct its name")
        return place


def _file_name(name: str) -> str:
    """Return the name of a file that lies where it is put and nowhere else; UsageError for any other."""
    if not _FILE.fullmatch(name) or name.startswith(".") or len(name.encode(errors="replace")) > _LONGEST_FILE or not name.isprintable():
        raise UsageError(f"{truncate_line(repr(name), QUOTED)} is no name of a document", "give the name of a file without its folder")
    return name


def _told(built: Built) -> dict[str, Any]:
    names = ("added", "changed", "unchanged", "removed", "documents", "passages", "seconds")
    skipped = [{"name": name, "reason": reason} for name, reason in built.skipped[:LISTED]]
    return {**{name: getattr(built, name) for name in names}, "skipped": skipped}


class Watched:
    """A folder and the index that follows it: when it was last brought up to date, and what went wrong with it."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        self._updated: str | None = None
        self._problem = ""

    def prepare(self, progress: Progress) -> None:
        """Index the folder where that was never done: a question finds something from the beginning. Blocking."""
        if not (Path(self.where) / MANIFEST).exists():
            Index.build([self.folder], self.where, progress=progress)

    async def run(self) -> None:
        """Keep the index up to date until it is cancelled; an error that ends this is told in the list of collections."""
        try:
            await watch([self.folder], self.where, self._take)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            self._problem = failure_of(error).message

    def to_json(self) -> dict[str, Any]:
        """Describe it: the folder's name, the time of the last update, and what went wrong."""
        return {"folder": self.folder.name, "updated": self._updated, "problem": self._problem}

    def _take(self, told: Built | RamifyError) -> None:
        if isinstance(told, RamifyError):
            self._problem = str(told)
        else:
            self._updated, self._problem = datetime.now(UTC).isoformat(timespec="seconds"), ""


def watched(folders: Sequence[Path], indexes: Sequence[str], home: Path) -> list[Watched]:
    """Give each folder the index that was made of it alone, else one of its own below `home`. Blocking."""
    made = {root: where for where in indexes if (root := _made_of(where)) is not None}
    found = []
    for folder in dict.fromkeys(one.resolve() for one in folders):
        own = home / sha256(bytes(folder)).hexdigest()[:12] / (folder.name or "index")
        found.append(Watched(folder, made.get(folder) or str(own)))
    return found


def _made_of(where: str) -> Path | None:
    """Return the only folder that an index was made of; None where there is no index, or where there are several."""
    if is_address(where) or not (Path(where) / PASSAGES).exists():
        return None
    roots = {Path(file.root).resolve() for file in listed_files(Path(where)).files}
    return roots.pop() if len(roots) == 1 else None
