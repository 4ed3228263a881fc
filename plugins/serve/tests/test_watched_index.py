"""Updating an index while files change."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ramify.serve.watching import watch
from ramify.tools.errors import IndexingError, InputError, RamifyError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.build import Built
from ramify.tools.index.folder import write_lock
from ramify.tools.search.searcher import find_passages

BuildResult = Built | RamifyError


class Watched:
    """A watched folder with its index and the results of its builds."""

    def __init__(self, above: Path) -> None:
        self.folder, self.out = above / "documents", above / "index"
        self.folder.mkdir()
        self.results: asyncio.Queue[BuildResult] = asyncio.Queue()

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def begin(self) -> "asyncio.Task[None]":
        return asyncio.create_task(watch([self.folder], self.out, self.results.put_nowait))

    async def built(self) -> Built:
        result = await self.results.get()
        assert isinstance(result, Built), result
        return result

    async def sources(self, query: str) -> list[str]:
        [hits] = await find_passages(str(self.out), [query], k=50)
        return sorted(hit.source for hit in hits)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    made = Watched(tmp_path)
    made.write("oil.txt", "The oil is changed every 250 hours.")
    task = made.begin()
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_new_changed_and_deleted_files_are_found_by_an_open_searcher(watched: Watched) -> None:
    assert (await watched.built()).added == 1  # the first pass
    assert await watched.sources("oil") == ["oil.txt"]
    watched.write("belt.txt", "The belt is tightened by ten millimetres.")
    assert (await watched.built()).added == 1
    watched.write("oil.txt", "The oil is changed every 500 hours.")
    assert (await watched.built()).changed == 1
    assert await watched.sources("belt") == ["belt.txt", "oil.txt"]
    (watched.folder / "belt.txt").unlink()
    assert (await watched.built()).removed == 1
    assert await watched.sources("belt") == ["oil.txt"]


async def test_a_burst_of_changes_is_indexed_together(watched: Watched) -> None:
    await watched.built()
    for number in range(40):
        watched.write(f"{number}.txt", f"Report number {number}.")
    builds = [await watched.built()]
    while builds[-1].documents < 41:
        builds.append(await watched.built())
    assert len(builds) < 10


async def test_an_unreadable_file_is_reported_and_does_not_stop_watching(watched: Watched) -> None:
    await watched.built()
    watched.write("broken.json", "{")
    result = await watched.built()
    assert [name for name, _ in result.skipped] == ["broken.json"]
    watched.write("belt.txt", "The belt is tightened.")
    assert (await watched.built()).documents == 2


async def test_a_failed_build_is_reported_and_repeated_after_the_next_change(watched: Watched) -> None:
    await watched.built()
    (watched.folder / "oil.txt").unlink()
    assert isinstance(await watched.results.get(), InputError)  # no document is left
    assert await watched.sources("oil") == ["oil.txt"]  # the last published state
    watched.write("belt.txt", "The belt is tightened.")
    assert (await watched.built()).documents == 1
    with write_lock(watched.out):
        watched.write("rope.txt", "The rope is long.")
        assert isinstance(await watched.results.get(), IndexingError)
    watched.write("hook.txt", "The hook is made of steel.")
    assert (await watched.built()).documents == 3


async def test_hidden_files_and_an_index_in_the_folder_are_no_changes(tmp_path: Path) -> None:
    made = Watched(tmp_path)
    made.out = made.folder / "index"
    made.write("oil.txt", "The oil is changed.")
    task = made.begin()
    await made.built()
    made.write(".draft.txt", "Nothing yet.")
    made.write("belt.txt", "The belt is tightened.")
    assert (await made.built()).documents == 2
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert made.results.empty()


async def test_it_is_cancelled_at_once_and_the_index_stays_whole(watched: Watched) -> None:
    task = watched.begin()  # a second one, on the same index
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await watched.built()
    assert Index.open(watched.out).manifest.documents == 1


async def test_an_index_is_updated_as_it_was_made(tmp_path: Path) -> None:
    made = Watched(tmp_path)
    made.write("oil.txt", "The oil is changed.")
    Index.build(made.folder, made.out, chunk_tokens=50, overlap=5, clean=False, description="Manuals")
    made.write("belt.txt", "The belt is tightened.")
    task = made.begin()
    assert (await made.built()).added == 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    manifest = Index.open(made.out).manifest
    assert (manifest.chunk_tokens, manifest.overlap, manifest.description) == (50, 5, "Manuals")


async def test_invalid_folders_are_rejected_at_once(tmp_path: Path) -> None:
    made = Watched(tmp_path)
    made.write("oil.txt", "The oil is changed.")
    for folders, out, error in (
        ([made.folder / "oil.txt"], made.out, UsageError),
        ([made.folder / "nothing"], made.out, InputError),
        ([made.folder], made.folder, IndexingError),
    ):
        with pytest.raises(error):
            await watch(folders, out, made.results.put_nowait)
    assert made.results.empty()


async def test_a_deleted_folder_stops_watching(tmp_path: Path) -> None:
    made = Watched(tmp_path)
    made.write("oil.txt", "The oil is changed.")
    task = made.begin()
    await made.built()
    os.rename(made.folder, tmp_path / "moved")
    with pytest.raises(UsageError, match="deleted"):
        await task
