"""Parsing in processes: in order, side by side, and a parser that goes wrong costs its own file."""

import gzip
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from ramify.tools.documents import load as reading
from ramify.tools.documents.files import File
from ramify.tools.documents.readers import FORMAT_READERS
from ramify.tools.documents.worker_pool import Limits, WorkerPool
from tests.tools.documents import odd_worker


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[WorkerPool]:
    """Have files read by the odd worker; the crews that were used."""
    used: list[WorkerPool] = []

    def pool(size: int, limits: Limits) -> WorkerPool:
        used.append(WorkerPool(size, limits, _command))
        return used[-1]

    for suffix, reader in odd_worker.ODD.items():
        monkeypatch.setitem(FORMAT_READERS, suffix, reader)
    monkeypatch.setattr(reading, "WorkerPool", pool)
    return used


def _command(limits: Limits) -> list[str]:
    return [sys.executable, odd_worker.__file__, str(limits.seconds), str(limits.memory_mb)]


def files(folder: Path, names: list[str]) -> Iterator[File]:
    """Write files; those with an odd ending go to an odd reader."""
    for name in names:
        path = folder / name
        path.write_text(f"This is {name}.", encoding="utf-8")
        yield File(path, name, folder)


def test_files_come_in_order_and_a_bad_one_costs_only_itself(tmp_path: Path, pools: list[WorkerPool]) -> None:
    names = ["a.page", "b.hang", "c.page", "d.die", "e.fail", "f.page", "g.grow", *(f"h{number}.page" for number in range(20))]
    found = list(reading.read_files(files(tmp_path, names), limits=Limits(seconds=10, memory_mb=1024), workers=2))
    assert [read.file.source for read in found] == names
    read = {one.file.source: [document.page_content for document in one.documents] for one in found}
    assert all(read[name] == ([f"This is {name}."] if name.endswith(".page") else []) for name in names)
    assert [reason for one in found for reason in one.skipped] == [
        ("b.hang", "took longer than 10 s"),
        ("d.die", "its reader died (signal 6)"),
        ("e.fail", "its reader failed: KeyError: 'rId7'"),
        ("g.grow", "needs more than 1,024 MB of memory to be read"),
    ]


def test_who_stops_reading_leaves_no_process_behind(tmp_path: Path, pools: list[WorkerPool]) -> None:
    found = reading.read_files(files(tmp_path, ["a.page", *(f"b{number}.hang" for number in range(50))]), workers=2)
    assert [read.file.source for read in islice(found, 1)] == ["a.page"]
    (pool,) = pools
    assert pool.running_count() == 2
    found.close()  # type: ignore[attr-defined]
    assert pool.running_count() == 0


def test_no_more_is_read_ahead_than_the_workers_need(tmp_path: Path, pools: list[WorkerPool]) -> None:
    asked = []

    def counted() -> Iterator[File]:
        for file in files(tmp_path, [f"{number:03}.page" for number in range(200)]):
            asked.append(file)
            yield file

    found = reading.read_files(counted(), workers=2)
    next(found)
    assert len(asked) < 20
    found.close()  # type: ignore[attr-defined]


def test_records_are_streamed(tmp_path: Path, pools: list[WorkerPool]) -> None:
    found = reading.read_files(files(tmp_path, ["a.endless", "b.page"]), workers=1)
    documents = iter(next(found).documents)
    assert [document.page_content for document in islice(documents, 1000)] == [f"Record {number}." for number in range(1000)]
    assert [document.page_content for document in next(found).documents] == ["This is b.page."]
    with pytest.raises(RuntimeError, match="not taken"):
        list(documents)


def test_records_are_kept_up_to_where_their_reader_dies(tmp_path: Path, pools: list[WorkerPool]) -> None:
    found = [(len(list(read.documents)), read.skipped) for read in reading.read_files(files(tmp_path, ["a.cut", "b.page"]), workers=1)]
    assert found == [(512, [("a.cut", "its reader died (signal 6)")]), (1, [])]


def test_records_are_not_read_ahead_of_who_takes_them(tmp_path: Path, pools: list[WorkerPool]) -> None:
    found = reading.read_files(files(tmp_path, [f"{number}.endless" for number in range(5)]), workers=2)
    for _ in range(5):
        next(iter(next(found).documents))
    assert pools[0].running_count() <= 2
    found.close()  # type: ignore[attr-defined]
    assert pools[0].running_count() == 0


@pytest.mark.parametrize("name", ["big.jsonl.gz", "big.csv.gz", "big.json.gz"])
def test_records_are_read_within_the_memory_of_a_worker(name: str, tmp_path: Path) -> None:
    with gzip.open(tmp_path / name, "wb", 1) as file:
        begin, end = (b'{"text": "', b'"}') if "json" in name else (b"name,text\nx,", b"")
        file.writelines([begin, b"a" * (60 << 20), end])
    found = {read.file.source: (len(list(read.documents)), read.skipped) for read in reading.read_files(_in(tmp_path), Limits(60, 400))}
    assert found == {name: (0, [(name, "needs more than 400 MB of memory to be read")])}


def test_a_few_small_texts_and_records_need_no_worker(tmp_path: Path, pools: list[WorkerPool]) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": "One."}\n' * 1000, encoding="utf-8")
    found = [(read.file.source, len(list(read.documents))) for read in reading.read_files(_in(tmp_path))]
    assert found == [("a.md", 1), ("b.jsonl", 1000)]
    assert pools[0].running_count() == 0


def _in(folder: Path) -> list[File]:
    return [File(path, path.name, folder) for path in sorted(folder.iterdir())]
