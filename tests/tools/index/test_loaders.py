"""Indexing documents of LangChain's document loaders: metadata, and updates by source."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_community.document_loaders import BSHTMLLoader, CSVLoader, ObsidianLoader, TextLoader
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


class Long(BaseLoader):
    """A loader of many documents, which notes how many it has given and may end with an error."""

    def __init__(self, count: int, fails_at: int | None = None) -> None:
        self.count, self.fails_at, self.given = count, fails_at, 0

    def lazy_load(self) -> Iterator[Document]:
        for number in range(self.count):
            if number == self.fails_at:
                raise ConnectionError("the line is dead")
            self.given += 1
            yield Document(f"Engine {number} stands in hall {number % 7}.", metadata={"source": f"engine{number}"})


def test_a_long_loader_is_read_in_groups_and_its_progress_reported(tmp_path: Path) -> None:
    loader, ahead = Long(1000), []

    def note(done: int, total: int | None, unit: str) -> None:
        if unit == "documents":
            ahead.append(loader.given - done)

    built = Index.build(loader, tmp_path / "index", WordEmbeddings(), progress=note)
    assert built.documents == 1000
    assert len(ahead) == 4
    assert max(ahead) == 0


def test_a_loader_that_fails_in_the_middle_leaves_the_index_as_it_was_and_its_work_is_kept(tmp_path: Path) -> None:
    build(Given(Document("Linz lies on the Danube.", metadata={"source": "linz"})), tmp_path)
    with pytest.raises(ConnectionError, match="the line is dead"):  # an OSError, as of a full disk
        build(Long(1000, fails_at=700), tmp_path)
    assert [document.metadata["source"] for document in held(tmp_path).values()] == ["linz"]
    again = build(Long(1000), tmp_path)
    assert (again.unchanged, again.added, again.documents) == (512, 488, 1001)


def test_notes_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one/note.md", "one/below/note.md", "two/note.md"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(f"status:: open\n\nThis is the note {name}.", encoding="utf-8")
    build(ObsidianLoader("one"), tmp_path)
    built = build(ObsidianLoader("two"), tmp_path)
    assert (built.added, built.changed, built.documents) == (1, 0, 3)
    assert set(held(tmp_path)) == {"one/note.md", "one/below/note.md", "two/note.md"}
    assert {document.metadata["status"] for document in held(tmp_path).values()} == {"open"}


def test_pages_that_a_pdf_loader_counts_from_0_are_counted_from_1(tmp_path: Path) -> None:
    pages = [Document(f"This is page {n}.", metadata={"source": "a.pdf", "page": n, "total_pages": 2}) for n in range(2)]
    build(Given(*pages, Document("A book.", metadata={"source": "book", "page": 7})), tmp_path)
    assert [document.metadata["page"] for document in held(tmp_path).values()] == [1, 2, 7]
