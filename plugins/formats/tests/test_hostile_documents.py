"""Documents made to break what reads them, at the command line: alone, and all of a kind beside a good file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plugins.formats.tests.hostile import DOCUMENTS, SAID, Hostile
from ramify.tools.index.index import Index
from tests.faults import fault
from tests.studio.conftest import Ramify

GOOD = "The river Arda rises in the hills."


def each(sees_read: str, sees_skipped: str, kept: str, code: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with every document, as a row of the matrix: the code is that of one of which nothing can be read."""

    def case(document: Hostile) -> object:
        mark = fault(
            "documents", document.kind, sees=sees_read if document.read else sees_skipped, kept=kept, code=0 if document.read else code
        )
        return pytest.param(document, id=document.name[:30].encode("ascii", "replace").decode(), marks=mark)

    mark: Callable[[Callable[..., None]], Callable[..., None]] = pytest.mark.parametrize(
        "hostile", [case(document) for document in DOCUMENTS]
    )
    return mark


def folder_with(documents: Path, hostile: Hostile) -> Path:
    documents.mkdir(parents=True)
    (documents / hostile.name).write_bytes(hostile.content())
    return documents


def is_plain(said: str) -> bool:
    """Tell whether an output is short lines of printable text, without a traceback."""
    return "Traceback" not in said and len(said) < 5000 and all(letter.isprintable() or letter == "\n" for letter in said)


@each("alone: what can be read is indexed", "alone: one error that names it", "the folder as it was, and no index", code=1)
def test_alone(ramify: Ramify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hostile: Hostile) -> None:
    monkeypatch.chdir(tmp_path)
    done = ramify("index", folder_with(tmp_path / "docs", hostile), "--out", tmp_path / "index")
    assert done.code == (0 if hostile.read else 1)
    assert is_plain(done.err)
    assert hostile.read or sum(line.startswith("error: ") and " — " in line for line in done.err.splitlines()) == 1
    assert {file.name for file in tmp_path.iterdir()} == ({"docs", "index"} if hostile.read else {"docs"})


def kinds(sees_read: str, sees_skipped: str, kept: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with all documents of each kind, as a row of the matrix."""
    cases = [
        pytest.param(alike, id=kind, marks=fault("documents", kind, sees=sees_read if alike[0].read else sees_skipped, kept=kept))
        for kind in dict.fromkeys(document.kind for document in DOCUMENTS)
        for alike in [[document for document in DOCUMENTS if document.kind == kind]]
    ]
    mark: Callable[[Callable[..., None]], Callable[..., None]] = pytest.mark.parametrize("alike", cases)
    return mark


@kinds("beside a good file: both are indexed", "beside a good file: named as skipped", "the good file is indexed")
def test_beside_a_good_file(ramify: Ramify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alike: list[Hostile]) -> None:
    monkeypatch.chdir(tmp_path)
    documents = tmp_path / "docs"
    for number, hostile in enumerate(alike):
        folder_with(documents / str(number), hostile)
    (documents / "zz_good.txt").write_text(GOOD, encoding="utf-8")
    done = ramify("index", documents, "--out", tmp_path / "index")
    assert done.code == 0
    assert is_plain(done.err)
    for words, indexed in ((GOOD, True), (SAID, alike[0].read)):
        assert (words in ramify("search", words, "--index", tmp_path / "index", "-k", 1, "--json").out) == indexed
    index = Index.open(tmp_path / "index")
    entries = [passage.metadata for passage in index.get_by_ids(index.ids()) if SAID in passage.page_content]
    holding = {Path(place["path"]).parent.name for entry in entries for place in (entry, *entry.get("also", ()))}
    assert holding == {str(number) for number, document in enumerate(alike) if document.read}
    assert [document.name for document in alike if not document.read and document.name not in done.err] == []
    assert {file.name for file in tmp_path.iterdir()} == {"docs", "index"}
