"""Metadata updates of a finished index: the result equals a new index, and only changed texts are encoded."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ramify.tools.documents.load import DocumentStream
from ramify.tools.index import Index
from ramify.tools.index.folder import index_file
from ramify.tools.index.index_store import update_documents
from ramify.tools.index.manifest import PASSAGES
from tests.tools.fakes import WordEncoder
from tests.tools.index.manual import Record, change_records, records, write

CHANGES = {"p1-3": None, "p2-3": {"chapter": "Kiln"}}


def made(folder: Path, given: list[Record], label: list[str]) -> Path:
    Index.build([write(folder.with_name(f"{folder.name}-documents"), given)], folder, WordEncoder(), label=label)
    return folder


def content(folder: Path) -> list[tuple[object, ...]]:
    tables = "passages JOIN vectors USING (digest) JOIN documents ON document = documents.id"
    sql = f"SELECT passages.id, file, label, text, metadata, vector FROM {tables}"
    with closing(sqlite3.connect(index_file(folder, PASSAGES))) as database:
        return sorted(database.execute(sql).fetchall())


@pytest.mark.parametrize("label", [[], ["chapter"]], ids=["plain", "labelled"])
def test_an_amended_index_is_as_if_made_of_these_documents(tmp_path: Path, label: list[str]) -> None:
    wanted = change_records(records(4), CHANGES)
    fresh, folder = made(tmp_path / "fresh", wanted, label), made(tmp_path / "index", records(4), label)
    documents = [document for document in DocumentStream([write(tmp_path / "wanted", wanted)]) if document.id in CHANGES]
    encoder = WordEncoder()
    update_documents(folder, encoder, documents)
    assert content(folder) == content(fresh)
    assert len(encoder.encoded) == (len(CHANGES) if label else 0)
    index = Index.open(folder, WordEncoder())
    assert index.manifest.label == label
    assert [one.metadata.get("chapter") for one in index.get_by_ids(["p1-3", "p2-3", "p1-4"])] == [None, "Kiln", "Bellows"]
    hits = index.search(["gauge"], 20, filter={"chapter": "Kiln"})[0]
    assert {hit.id for hit in hits} == {"p2-3", *(f"p3-{place}" for place in range(1, 5))}


def test_a_removed_label_needs_no_encoding_if_the_plain_text_is_known(tmp_path: Path) -> None:
    plain, folder = made(tmp_path / "plain", records(4), []), made(tmp_path / "index", records(4), ["chapter"])
    documents = [
        document
        for document in DocumentStream([write(tmp_path / "wanted", change_records(records(4), {"p1-3": None}))])
        if document.id == "p1-3"
    ]
    encoder = WordEncoder()
    update_documents(folder, encoder, documents, plain)
    assert encoder.encoded == []
