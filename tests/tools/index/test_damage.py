"""Damaged indexes: one clear error, repaired by building again."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from ramify.tools.index.index_store import check_exists
from ramify.tools.search import searcher
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import write_records
from tests.tools.index.test_updates import search_all

FILES = ["passages.sqlite", "slots.npy", "vectors.faiss", "manifest.json"]

ManifestData = dict[str, Any]


def changed(name: str, value: Any) -> Callable[[ManifestData], bytes]:
    return lambda caught: json.dumps({**caught, name: value}).encode()


WRONG = {
    "embedding": [None, 5, []],
    "dimension": [None, "64", 0, -1, 65, 1e300, True],
    "passages": [None, -1, 41, {}],
    "query_prefix": [5, []],
    "sha256": [None, [], {}, {"passages.sqlite": 1}, {"../x": "", "passages.sqlite": "", "vectors.faiss": ""}],
    "hidden": [None, {"twin": "x"}],
    "label": [None, "chapter", [None]],
    "layout": [None, "2", 1, 10**30],
    "kind": [None, "graph", "cube", []],
    "vectors": [None, "fp8", 16],
    "colour": ["red"],
}
MANIFESTS: dict[str, Callable[[ManifestData], bytes]] = {
    **{f"{name}={value!r:.40}": changed(name, value) for name, values in WRONG.items() for value in values},
    **{
        f"no {name}": lambda manifest, name=name: json.dumps({k: v for k, v in manifest.items() if k != name}).encode()
        for name in ("embedding", "sha256")
    },
    "a list": lambda manifest: b"[]",
    "null": lambda manifest: b"null",
    "deep": lambda manifest: b"[" * 100_000,
    "deep within": lambda manifest: changed("label", [])(manifest).replace(b'"label": []', b'"label": ' + b"[" * 9999 + b"]" * 9999),
    "half a surrogate pair": changed("embedding", "\ud800"),
    "no UTF-8": lambda manifest: b"\xff\xfe" + json.dumps(manifest).encode("utf-16-le"),
    "digits": lambda manifest: changed("dimension", 64)(manifest).replace(b": 64", b": " + b"6" * 99_999),
    "large": lambda manifest: json.dumps(manifest).encode() + b" " * 2**25,
}
"""What may become of a manifest."""


class TestDamage:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        Index.build([write_records(tmp_path / "records.jsonl", range(40))], tmp_path / "index", WordEncoder())
        return tmp_path / "index"

    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("damage", ["missing", "empty", "cut", "flipped", "rubbish"])
    @fault(
        "index",
        "file missing, empty, cut, changed or overwritten",
        sees="one error that names the command to repair it",
        kept="all passages, after that command",
        code=1,
    )
    def test_is_one_clear_error_and_repaired_by_building_again(self, folder: Path, name: str, damage: str) -> None:
        before = search_all(folder)
        content = (folder / name).read_bytes()
        middle = len(content) // 2
        damaged = {
            "missing": b"",
            "empty": b"",
            "cut": content[:middle],
            "flipped": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
            "rubbish": b"rubbish" * 400,
        }[damage]
        (folder / name).write_bytes(damaged)
        if damage == "missing":
            (folder / name).unlink()
        with pytest.raises(IndexingError, match=r"— run `ramify index PATH… --out .*` again"):
            Index.open(folder, WordEncoder())
        Index.build([folder.parent / "records.jsonl"], folder, WordEncoder())
        assert search_all(folder) == before

    @pytest.mark.parametrize("damage", MANIFESTS)
    @fault(
        "index",
        "manifest with wrong or unexpected values",
        sees="one error that names the command to repair it",
        kept="all passages, without encoding again",
        code=1,
    )
    def test_of_a_manifest_is_one_clear_error_and_repaired_by_building_again(self, folder: Path, damage: str) -> None:
        before = search_all(folder)
        manifest = folder / "manifest.json"
        manifest.write_bytes(MANIFESTS[damage](json.loads(manifest.read_text())))
        for act in (Index.open, searcher.open_index, *(() if damage in ("dimension=65", "passages=41") else (check_exists,))):
            with pytest.raises(IndexingError, match=r"— (run|upgrade ramify|delete it and build it again: )`?") as caught:
                act(folder)
            assert len(str(caught.value)) < 1000
        if "another version of ramify (layout" not in str(caught.value):
            Index.build([folder.parent / "records.jsonl"], folder, encoder := WordEncoder())
            assert (search_all(folder), encoder.encoded) == (before, [])

    @pytest.mark.parametrize("name", [*FILES, "manifest.json.part", "passages.1.sqlite", "vectors.1.faiss"])
    @pytest.mark.parametrize("place", ["folder", "pipe", "circle"])
    @fault(
        "index",
        "folder, pipe or link instead of a file",
        sees="one error that names what to move",
        kept="all passages, after that",
        code=1,
    )
    def test_a_folder_or_pipe_instead_of_a_file_is_one_clear_error(self, folder: Path, name: str, place: str) -> None:
        before = search_all(folder)
        file = folder / name
        file.unlink(missing_ok=True)
        {"folder": file.mkdir, "pipe": lambda: os.mkfifo(file), "circle": lambda: file.symlink_to(name)}[place]()
        if name in FILES:
            with pytest.raises(IndexingError, match=r" — (run|move)"):
                Index.open(folder, WordEncoder())
        corpus = write_records(folder.parent / "records.jsonl", range(40), r3="About engine number 3 and treaty.")
        if place == "folder" and name not in {"passages.sqlite", "slots.npy", "vectors.faiss"}:  # these get new names
            with pytest.raises(IndexingError, match=rf"cannot be written: .* — move the folder '.*/{name}' away"):
                Index.build([corpus], folder, WordEncoder())
            file.rmdir()
        Index.build([corpus], folder, WordEncoder())
        assert len(search_all(folder)) == len(before)

    @fault(
        "index",
        "folder that is not an index, given as the index",
        sees="one error; nothing is written there",
        kept="the folder as it was",
        code=1,
    )
    def test_the_manifest_of_something_else_is_not_taken_for_an_index_s(self, tmp_path: Path) -> None:
        corpus, site = write_records(tmp_path / "records.jsonl", range(3)), tmp_path / "site"
        site.mkdir()
        (site / "manifest.json").write_text('{"name": "a web page"}')
        with pytest.raises(IndexingError, match="contains other files and no index"):
            Index.build([corpus], site, WordEncoder())
        assert [(file.name, file.read_text()) for file in site.iterdir()] == [("manifest.json", '{"name": "a web page"}')]

    @fault("index", "vectors lost", sees="nothing: rebuilt by the next `ramify index`", kept="all passages, without encoding again", code=0)
    def test_a_lost_graph_is_rebuilt_without_encoding(self, folder: Path) -> None:
        (folder / "vectors.faiss").unlink()
        Index.build([folder.parent / "records.jsonl"], folder, encoder := WordEncoder())
        assert encoder.encoded == []

    def test_the_index_holds_no_pickle(self, folder: Path) -> None:
        assert sorted(path.name for path in folder.iterdir()) == [
            ".writing",
            "manifest.json",
            "passages.sqlite",
            "slots.npy",
            "vectors.faiss",
        ]
        with sqlite3.connect(folder / "passages.sqlite") as database:
            assert database.execute("SELECT count(*) FROM passages").fetchone() == (40,)
