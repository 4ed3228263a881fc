"""Collections that are made at the server: of documents that are sent to it, or of a folder that whoever started it has released."""

import asyncio
import json
import re
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from ramify.studio.serve.catalog import QUOTED, Catalog, Collection
from ramify.studio.serve.questions import Event, failure_of
from ramify.studio.serve.users import DEFAULT
from ramify.studio.server.bounds import allow
from ramify.tools.errors import RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import Built
from ramify.tools.index.manifest import MANIFEST
from ramify.tools.index.passage_store import FileList, listed_files
from ramify.tools.index.searcher import DEMO
from ramify.tools.new_files import make_folder, write_whole
from ramify.tools.quoting import brief

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
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
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
        self._loop.call_soon_threadsafe(self._changed.set)

    def finish(self, end: Event) -> None:
        """Note how it ended."""
        self.end = end
        self._changed.set()

    async def events(self) -> AsyncIterator[Event]:
        """Yield how far it is until its end."""
        told: dict[str, Any] = {}
        while self.end is None:
            self._changed.clear()
            if self._progress and self._progress != told:
                yield Event("progress", told := self._progress)
            await asyncio.sleep(TOLD_S)
            await self._changed.wait()
        yield self.end


class Collections:
    """The collections below a folder of the server, which join the catalog's when they are indexed."""

    def __init__(self, catalog: Catalog, home: Path, folders: Sequence[Path] = (), told_apart: bool = False) -> None:
        self._catalog = catalog
        self._told_apart = told_apart
        """Whether users have tokens: then each changes only what they made."""
        self._home = home
        self.folders = [folder.resolve() for folder in folders]
        self._builds: dict[str, Build] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._own: set[str] = set()
        for record in sorted(home.glob(f"*/{_RECORD}")):
            if (name := record.parent.name) not in catalog.collections and _NAME.fullmatch(name):
                self._own.add(name)
                self._offer(name)

    def listed(self, user: str) -> list[dict[str, Any]]:
        """List all collections; those made here tell their folder, too, and whether they are being indexed and the user's. Blocking."""
        found = [collection.to_json() for collection in self._catalog.collections.values()]
        known = {told["name"] for told in found}
        empty: dict[str, Any] = {"kind": "passages", "documents": None, "passages": None, "description": ""}
        found += [{"name": name, "path": name, **empty} for name in sorted(self._own - known)]
        own = [told for told in found if told["name"] in self._own]
        for told in own:
            folder = self._folder(told["name"])
            told |= {"path": told["name"], "folder": str(folder) if folder else "", "building": self._building(told["name"])}
            told["changeable"] = self._may_change(user, told["name"])
        return found

    def make(self, user: str, name: str, folder: str | None = None) -> str:
        """Make a collection, or return the user's own of the same name and origin; a name that is taken is numbered. Blocking."""
        if not _NAME.fullmatch(name) or name == DEMO:
            raise UsageError(f"{brief(repr(name), QUOTED)} is no name of a collection", "take up to 40 letters, digits, _, . and -")
        place = None if folder is None else self._released(folder)
        for number in range(1, len(self._own) + len(self._catalog.collections) + 2):
            wanted = name if number == 1 else f"{name[:36]}-{number}"
            if wanted in self._own and self._folder(wanted) == place and self._may_change(user, wanted):
                return wanted
            if wanted not in self._own and wanted not in self._catalog.collections:
                break
        make_folder(self._home / wanted / _DOCUMENTS)
        write_whole(json.dumps({"folder": str(place) if place else None, "user": user}), self._home / wanted / _RECORD)
        self._own.add(wanted)
        return wanted

    def documents(self, name: str) -> dict[str, Any]:
        """List the documents of a collection, those that are indexed and those that were skipped, with the reason. Blocking."""
        listed, waiting = FileList(), set[str]()
        if name in self._own:
            waiting = {file.name for file in self._uploads(name).iterdir()} if self._folder(name) is None else set()
        if name in self._catalog.collections:
            where = self._catalog.collection(name).where
            listed = FileList() if where == DEMO or "://" in where or not Path(where).is_dir() else listed_files(Path(where))
        elif name not in self._own:
            self._catalog.collection(name)
        skipped = [{"name": source, "reason": reason} for source, reason in listed.unread]
        counts = {file.source: file.searched + sum(file.left_out.values()) for file in listed.files}
        waiting -= {*counts, *(source for source, _ in listed.unread)}
        told = [{"name": file, "passages": count} for file, count in (*((file, 0) for file in sorted(waiting)), *counts.items())]
        more = max(len(told) - LISTED, 0) + max(len(skipped) - LISTED, 0)
        uploaded = name in self._own and self._folder(name) is None
        return {"files": told[:LISTED], "skipped": skipped[:LISTED], "more": more, "uploaded": uploaded}

    def receive(self, user: str, name: str, file: str, offset: int, content: bytes) -> int:
        """Write a part of a document behind those that came before, and return its size; UsageError beyond a limit. Blocking."""
        folder = self._uploads(self._checked(user, name))
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
        path = self._uploads(self._checked(user, name)) / _file_name(file.partition("#")[0])
        if not path.is_file():
            return False
        path.unlink()
        return True

    def delete(self, user: str, name: str) -> None:
        """Delete a collection with its index and what was sent for it; documents in a folder of the server stay. Blocking."""
        self._checked(user, name)
        self._catalog.collections.pop(name, None)
        self._own.discard(name)
        self._builds.pop(name, None)
        shutil.rmtree(self._home / name)

    def index(self, user: str, name: str) -> Build:
        """Begin to index a collection; UsageError where that is under way."""
        self._checked(user, name)
        build = self._builds[name] = Build()
        task = asyncio.create_task(self._index(name, build))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return build

    def build(self, name: str) -> Build | None:
        """Return the build of a collection that runs, or ran last."""
        return self._builds.get(name)

    def stop(self, user: str, name: str) -> bool:
        """Stop indexing a collection, where what is done so far is kept; return whether it was under way."""
        running = self._building(self._owned(user, name))
        if running:
            self._builds[name].stopped = True
        return running

    async def close(self) -> None:
        """Stop what is being indexed."""
        for build in self._builds.values():
            build.stopped = True
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _index(self, name: str, build: Build) -> None:
        try:
            async with self._one_at_a_time:
                build(0, None, "documents")
                folder = self._folder(name)
                source = self._uploads(name) if folder is None else self._released(str(folder))
                built = await asyncio.to_thread(Index.build, [source], self._home / name / _INDEX, progress=build)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            build.finish(Event("error", failure_of(error).to_json()))
        else:
            self._offer(name)
            build.finish(Event("built", _told(built)))

    def _offer(self, name: str) -> None:
        """Add a collection to those that can be asked, if it has been indexed."""
        place = self._home / name / _INDEX
        if (place / MANIFEST).exists():
            allow(place)
            self._catalog.collections[name] = Collection(name, str(place))

    def _checked(self, user: str, name: str) -> str:
        """Return the name of a collection that the user may change and that is not being indexed."""
        if self._building(self._owned(user, name)):
            raise UsageError(f"the collection {name!r} is being indexed", "wait for it, or stop it")
        return name

    def _owned(self, user: str, name: str) -> str:
        """Return the name of a collection that the user may change."""
        if name not in self._own:
            raise UsageError(
                f"there is no collection {brief(repr(name), QUOTED)} that was made here", "make one, or change its index itself"
            )
        if not self._may_change(user, name):
            raise UsageError(f"the collection {name!r} was made by another user", "ask them, or make one of your own")
        return name

    def _may_change(self, user: str, name: str) -> bool:
        return not self._told_apart or self._record(name).get("user", DEFAULT) == user

    def _building(self, name: str) -> bool:
        build = self._builds.get(name)
        return build is not None and build.end is None

    def _uploads(self, name: str) -> Path:
        """Return where the documents of a collection are kept; UsageError where they lie in a folder of their own."""
        if (folder := self._folder(name)) is not None:
            raise UsageError(f"the documents of {name!r} lie in {str(folder)!r}", "change them there, and index again")
        return self._home / name / _DOCUMENTS

    def _folder(self, name: str) -> Path | None:
        told = self._record(name).get("folder")
        return Path(told) if told else None

    def _record(self, name: str) -> dict[str, Any]:
        record: dict[str, Any] = json.loads((self._home / name / _RECORD).read_text(encoding="utf-8"))
        return record

    def _released(self, folder: str) -> Path:
        """Return a folder that is one of those released, or lies under one, links resolved; UsageError for any other."""
        place = Path(folder).expanduser().resolve() if "\x00" not in folder else Path()
        if not any(place.is_relative_to(released) for released in self.folders):
            raise UsageError(f"the folder {brief(repr(folder), QUOTED)} is not released", "start the server with --documents DIR")
        if not place.is_dir():
            raise UsageError(f"there is no folder {brief(repr(folder), QUOTED)}", "correct its name")
        return place


def _file_name(name: str) -> str:
    """Return the name of a file that lies where it is put and nowhere else; UsageError for any other."""
    if not _FILE.fullmatch(name) or name.startswith(".") or len(name.encode(errors="replace")) > _LONGEST_FILE or not name.isprintable():
        raise UsageError(f"{brief(repr(name), QUOTED)} is no name of a document", "give the name of a file without its folder")
    return name


def _told(built: Built) -> dict[str, Any]:
    names = ("added", "changed", "unchanged", "removed", "documents", "passages", "seconds")
    skipped = [{"name": name, "reason": reason} for name, reason in built.skipped[:LISTED]]
    return {**{name: getattr(built, name) for name in names}, "skipped": skipped}
