"""Indexing documents of LangChain's document loaders: metadata, and updates by source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_community.document_loaders import BSHTMLLoader, CSVLoader, TextLoader
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from ramify.tools.errors import InputError
from ramify.tools.index import Index
from tests.embeddings import WordEmbeddings

PAGE = "<html><head><title>Linz</title></head><body><p>Linz lies on the Danube.</p></body></html>"
ROWS = "city,river\nParis,Seine\nRome,Tiber\n"


class Given(BaseLoader):
    """A loader of given documents."""

    def __init__(self, *documents: Document) -> None:
        self.documents = documents

    def lazy_load(self) -> Iterator[Document]:
        yield from self.documents


def build(source: Any, folder: Path) -> Any:
    return Index.build(source, folder / "index", WordEmbeddings())


def held(folder: Path) -> dict[str, Document]:
    """Return what an index holds, by id."""
    index = Index.open(folder / "index", WordEmbeddings())
    return {str(document.id): document for document in index.get_by_ids(index.ids())}


@pytest.mark.parametrize(
    ("loader", "name", "content", "found", "metadata"),
    [
        (TextLoader, "linz.txt", "Linz lies on the Danube.", "Linz lies on the Danube.", {}),
        (CSVLoader, "cities.csv", ROWS, "city: Paris\nriver: Seine", {"row": 0}),
        (BSHTMLLoader, "linz.html", PAGE, "LinzLinz lies on the Danube.", {"title": "Linz"}),
    ],
)
def test_a_loader_of_the_community_s_is_indexed_with_its_metadata(
    loader: Any, name: str, content: str, found: str, metadata: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    built = build(loader(str(file)), tmp_path)
    document = held(tmp_path)[str(file)]
    assert document.page_content == found
    assert document.metadata == {"source": str(file), **metadata}
    assert (built.added, built.documents) == (len(held(tmp_path)), len(held(tmp_path)))


def test_only_what_changed_is_encoded_and_what_a_source_lost_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "cities.csv"
    file.write_text(ROWS, encoding="utf-8")
    build(CSVLoader(str(file)), tmp_path)
    assert (again := build(CSVLoader(str(file)), tmp_path)).encoded == 0
    assert (again.added, again.changed, again.unchanged, again.removed) == (0, 0, 2, 0)
    file.write_text("city,river\nParis,Seine\n", encoding="utf-8")
    fewer = build(CSVLoader(str(file)), tmp_path)
    assert (fewer.unchanged, fewer.removed, fewer.encoded) == (1, 1, 0)
    assert list(held(tmp_path)) == [str(file)]


def test_other_sources_stay_those_of_files_too(tmp_path: Path) -> None:
    (tmp_path / "rome.txt").write_text("Rome is on the river Tiber.", encoding="utf-8")
    build(tmp_path / "rome.txt", tmp_path)
    build(Given(Document("Linz lies on the Danube.", metadata={"source": "linz"})), tmp_path)
    build(Given(Document("Ulm lies on the Danube.", metadata={"source": "ulm"})), tmp_path)
    assert {document.metadata["source"] for document in held(tmp_path).values()} == {"rome.txt", "linz", "ulm"}
    changed = build(Given(Document("Ulm lies on the Danube, too.", metadata={"source": "ulm"})), tmp_path)
    assert (changed.changed, changed.documents) == (1, 3)


def test_documents_are_identified_by_id_and_without_a_source_by_the_loader_s_name(tmp_path: Path) -> None:
    build(Given(Document("Linz lies on the Danube.", id="a"), Document("Rome is on the river Tiber."), Document("Ulm is old.")), tmp_path)
    assert set(held(tmp_path)) == {"a", "Given", "Given@2"}
    assert all(document.metadata["source"] == "Given" for document in held(tmp_path).values())


def test_a_document_cannot_set_the_location_of_another_nor_values_that_are_not_text(tmp_path: Path) -> None:
    odd = {"source": "linz", "path": "/etc/passwd", "also": ["x"], "when": Path("x"), "author": "Ann"}
    empty = Document(" \n ", metadata={"source": "empty"})
    built = build(Given(Document("Linz \ud800 lies on the Danube.", metadata=odd), empty), tmp_path)
    [document] = held(tmp_path).values()
    assert document.metadata == {"source": "linz", "record_path": "/etc/passwd", "record_also": ["x"], "when": "x", "author": "Ann"}
    assert document.page_content == "Linz ? lies on the Danube."
    assert built.skipped == [("empty", "a document without text")]


def test_a_loader_without_documents_is_reported_and_leaves_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'Given' gave no document with text — .*load\(\)"):
        build(Given(), tmp_path)
    assert not (tmp_path / "index").exists()


def test_a_loader_s_exception_is_raised_and_the_next_build_resumes(tmp_path: Path) -> None:
    loader = TextLoader(str(tmp_path / "linz.txt"))
    with pytest.raises(RuntimeError, match="Error loading"):
        build(loader, tmp_path)
    (tmp_path / "linz.txt").write_text("Linz lies on the Danube.", encoding="utf-8")
    assert build(loader, tmp_path).added == 1
