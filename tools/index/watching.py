"""Keep an index up to date while files change: each burst of changes is one incremental build."""

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
from ramify.tools.index.index_store import is_address, store_at
from ramify.tools.index.index_writer import BuildOptions
from ramify.tools.index.manifest import check_target

Tell = Callable[[Built | RamifyError], None]
"""Called with what a build did, or why it could not be made."""
_QUIET_MS, _LONGEST_MS = 400, 3000
"""Milliseconds without a change that end a burst, and those after which one is indexed though it goes on."""
_RETRY_S = 10.0
"""Seconds after which an index that could not be written is tried again, if nothing changes before."""


async def watch(folders: Sequence[str | Path], out: str | Path, tell: Tell) -> None:
    """Bring an index up to date with folders, and again after each burst of changes, until it is cancelled.

    An index that is there is updated as it was made; a new one is made with the defaults of `Index.build`. Builds run in a thread, and
    searches find the last published state. A build that fails is told, and made again
    after the next change, or soon where the index could not be written; what was encoded for one that is cancelled is kept.
    UsageError or InputError where the folders cannot be watched, IndexingError where the index cannot be updated as it is.
    """
    if find_spec("watchfiles") is None:
        raise RamifyError("the library that notices changed files is not installed", "run `pip install 'ramify-rag[watch]'`")
    store = store_at(out)
    roots, own = await asyncio.to_thread(_checked, folders, store)
    changed, stopped = asyncio.Event(), threading.Event()
    changed.set()  # the first pass
    noticing = asyncio.create_task(_notice(roots, own, changed))
    await asyncio.sleep(0)  # it listens from here on: what changes during the first pass is noticed, too
    try:
        while True:
            await _any_of(changed, noticing)
            changed.clear()
            tell(told := await asyncio.to_thread(_update, roots, store, stopped))
            if isinstance(told, IndexingError):  # somebody else writes it, or the disk is full
                asyncio.get_running_loop().call_later(_RETRY_S, changed.set)
    finally:
        stopped.set()
        noticing.cancel()


def _checked(folders: Sequence[str | Path], store: IndexStore) -> tuple[list[Path], Path | None]:
    """Return the folders, and that of the index where it is one; raise an error for what no later build could put right."""
    roots = [existing_path(one) for one in folders]
    for given, root in zip(folders, roots, strict=True):
        if not root.is_dir():
            raise UsageError(f"{str(given)!r} is a file, not a folder", "name the folder that it is in")
    store.manifest()
    if is_address(store.where):
        return roots, None
    check_target(Path(store.where), roots)
    return roots, Path(store.where).resolve()


async def _any_of(changed: asyncio.Event, noticing: "asyncio.Task[None]") -> None:
    """Wait for a change; raise what the noticing of changes ended with."""
    waiting = asyncio.create_task(changed.wait())
    try:
        await asyncio.wait({waiting, noticing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if noticing.done():
        noticing.result()


async def _notice(roots: Sequence[Path], out: Path | None, changed: asyncio.Event) -> None:
    """Set the event after each burst of changes; raise UsageError when a folder is gone."""
    from watchfiles import awatch

    resolved = [root.resolve() for root in roots]
    watching = awatch(*resolved, watch_filter=partial(_counts, resolved, out), step=_QUIET_MS, debounce=_LONGEST_MS)
    async with aclosing(watching) as bursts:
        async for _ in bursts:
            changed.set()
            if gone := [root for root in roots if not root.is_dir()]:
                raise UsageError(f"the folder {str(gone[0])!r} is gone", "put it back, and start again")


def _counts(roots: Sequence[Path], out: Path | None, change: object, name: str) -> bool:
    """Return whether a change may be one of a document: not of a hidden file, nor of the index itself."""
    path = Path(name)
    if out is not None and path.is_relative_to(out):
        return False
    within = [path.relative_to(root).parts for root in roots if path.is_relative_to(root)]
    return any(not any(part.startswith(".") for part in parts) for parts in within)


def _update(roots: Sequence[Path], store: IndexStore, stopped: threading.Event) -> Built | RamifyError:
    """Build, as the index was made; return what was done, or the error."""

    def progress(*_: object) -> None:
        if stopped.is_set():
            raise RamifyError("the watch has ended", "start it again: what was encoded is kept")

    try:
        held = store.manifest()
        chunking = held.chunking if held else DEFAULT_CHUNKING
        encoder = load_encoder(held.embedding if held else "minilm")
        return store.build(list(roots), BuildOptions(encoder, chunking, progress=progress))
    except RamifyError as error:
        return error
