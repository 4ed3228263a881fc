"""Update an index when files change; each burst of changes triggers one incremental build."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from ramify.tools.documents.files import existing_path
from ramify.tools.embeddings import load_encoder
from ramify.tools.errors import IndexingError, RamifyError, UsageError
from ramify.tools.index.build import Built, IndexStore
from ramify.tools.index.chunking import DEFAULT_CHUNKING
from ramify.tools.index.folder import check_target
from ramify.tools.index.index_store import is_store_address, store_at
from ramify.tools.index.index_writer import BuildOptions

OnBuild = Callable[[Built | RamifyError], None]
"""Called with the result of a build, or its error."""
_QUIET_MS, _MAX_BURST_MS = 400, 3000
"""Milliseconds without a change that end a burst, and its maximum duration."""
_RETRY_S = 10.0
"""Seconds until a build is retried after the index could not be written."""


async def watch(folders: Sequence[str | Path], out: str | Path, on_build: OnBuild) -> None:
    """Update an index from folders now and after each burst of changes, until cancelled.

    An existing index is updated with its own options; a new one is built with the defaults of `Index.build`. Builds run in a thread, and
    searches see the last published state. The error of a failed build is passed to `on_build`, and the build repeated after the next
    change, or after 10 seconds if the index could not be written; texts encoded by a cancelled build are kept. UsageError or InputError if
    the folders cannot be watched, IndexingError if the index cannot be updated.
    """
    if find_spec("watchfiles") is None:
        raise RamifyError("watchfiles, which detects changed files, is not installed", "run `pip install 'ramify-rag[watch]'`")
    store = store_at(out)
    roots, own = await asyncio.to_thread(_check_folders, folders, store)
    changed, stopped = asyncio.Event(), threading.Event()
    changed.set()  # triggers the first build
    noticing = asyncio.create_task(_watch_changes(roots, own, changed))
    await asyncio.sleep(0)  # changes during the first build are detected, too
    try:
        while True:
            await _wait_for_change(changed, noticing)
            changed.clear()
            on_build(result := await asyncio.to_thread(_update, roots, store, stopped))
            if isinstance(result, IndexingError):  # another process writes it, or the disk is full
                asyncio.get_running_loop().call_later(_RETRY_S, changed.set)
    finally:
        stopped.set()
        noticing.cancel()


def _check_folders(folders: Sequence[str | Path], store: IndexStore) -> tuple[list[Path], Path | None]:
    """Return the folders, and that of the index, None for a store; raise errors that no later build could resolve."""
    roots = [existing_path(folder) for folder in folders]
    for given, root in zip(folders, roots, strict=True):
        if not root.is_dir():
            raise UsageError(f"{str(given)!r} is a file, not a folder", "give the folder that contains it")
    store.manifest()
    if is_store_address(store.where):
        return roots, None
    check_target(Path(store.where), roots)
    return roots, Path(store.where).resolve()


async def _wait_for_change(changed: asyncio.Event, noticing: "asyncio.Task[None]") -> None:
    """Wait for a change; raise the error of the watching task if it has ended."""
    waiting = asyncio.create_task(changed.wait())
    try:
        await asyncio.wait({waiting, noticing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if noticing.done():
        noticing.result()


async def _watch_changes(roots: Sequence[Path], out: Path | None, changed: asyncio.Event) -> None:
    """Set the event after each burst of changes; raise UsageError if a folder was deleted."""
    from watchfiles import awatch

    resolved = [root.resolve() for root in roots]
    watching = awatch(*resolved, watch_filter=partial(_is_relevant, resolved, out), step=_QUIET_MS, debounce=_MAX_BURST_MS)
    async with aclosing(watching) as bursts:
        async for _ in bursts:
            changed.set()
            if deleted := [root for root in roots if not root.is_dir()]:
                raise UsageError(f"the folder {str(deleted[0])!r} was deleted or moved", "restore it and start again")


def _is_relevant(roots: Sequence[Path], out: Path | None, change: object, name: str) -> bool:
    """Return whether a changed path may be a document: not hidden, and not in the index."""
    path = Path(name)
    if out is not None and path.is_relative_to(out):
        return False
    within = [path.relative_to(root).parts for root in roots if path.is_relative_to(root)]
    return any(not any(part.startswith(".") for part in parts) for parts in within)


def _update(roots: Sequence[Path], store: IndexStore, stopped: threading.Event) -> Built | RamifyError:
    """Update the index with its own options; return the result or the error."""

    def progress(*_: object) -> None:
        if stopped.is_set():
            raise RamifyError("watching was stopped", "start it again; encoded texts are reused")

    try:
        manifest = store.manifest()
        chunking = manifest.chunking if manifest else DEFAULT_CHUNKING
        encoder = load_encoder(manifest.embedding if manifest else "minilm")
        return store.build(list(roots), BuildOptions(encoder, chunking, progress=progress))
    except RamifyError as error:
        return error
