"""A document that has changed is told apart from an answer that is wrong; and what the command says of both."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plugins.testing.tests.verifying.conftest import COMPARISON, Answered
from ramify.nodes.tree import Passage
from ramify.nodes.tree.citation import cite
from ramify.testing import verify
from ramify.tools.errors import InputError, UsageError
from ramify.tools.index.index import Index
from tests.embeddings import WordEmbeddings
from tests.studio.conftest import Ramify

LEM = "Stanisław Lem was born in Lwów in 1921.\n\nHe wrote Solaris and many other novels."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "lem.txt").write_text(LEM, encoding="utf-8")
    (documents / "other.txt").write_text("The Vistula flows through Warsaw and Kraków.", encoding="utf-8")
    return documents


def build(folder: Path) -> Path:
    index = folder.parent / "index"
    Index.build(folder, index, WordEmbeddings())
    return index


def answer_from(index: Path) -> dict[str, Any]:
    """Return an answer that cites the passage about Lem."""
    opened = Index.open(index, WordEmbeddings())
    found = next(document for document in opened.get_by_ids(opened.ids()) if "Lem" in document.page_content)
    passage = Passage.from_document(found)
    citation = cite([passage], ["Stanisław Lem was born in Lwów in 1921. …"], cited=True)[0].model_dump()
    tree = [{"path": "0", "question": "Where was Lem born?", "answer": "Lwów", "status": "leaf", "cited": [passage.id]}]
    return {"question": "Where was Lem born?", "answer": "Lwów", "citations": [citation], "tree": tree}


def test_documents_as_they_were(folder: Path) -> None:
    index = build(folder)
    answer = answer_from(index)
    assert verify(answer, index=index).holds
    assert verify(answer, documents=folder).holds


@pytest.mark.parametrize("change", [lambda file: file.write_text("Lem was born in 1922.", encoding="utf-8"), Path.unlink])
def test_a_changed_document_is_no_wrong_answer(folder: Path, change: Callable[[Path], Any]) -> None:
    answer = answer_from(build(folder))
    change(folder / "lem.txt")
    for given in ({"index": build(folder)}, {"documents": folder}):
        verification = verify(answer, **given)
        assert not verification.holds
        assert verification.documents_changed == ["lem.txt"]
        assert verification.steps.fail == 0
        assert "fails" not in {check.verdict for check in verification.checks}


def test_no_file_outside_the_folder_is_read(folder: Path) -> None:
    answer = answer_from(build(folder))
    secret = folder.parent / "secret.txt"
    secret.write_text(LEM, encoding="utf-8")
    for source in ("../secret.txt", str(secret)):
        answer["citations"][0] |= {"source": source, "path": str(secret)}
        assert verify(answer, documents=folder).documents_changed == [source]


def test_a_folder_that_is_missing_is_an_error_of_its_own(folder: Path) -> None:
    answer = answer_from(build(folder))
    with pytest.raises(InputError):
        verify(answer, documents=folder / "missing")
    with pytest.raises(UsageError):
        verify(answer, documents=folder / "lem.txt")


def test_the_command(ramify: Ramify, folder: Path, tmp_path: Path) -> None:
    file, index = tmp_path / "answer.json", build(folder)
    answer = answer_from(index)
    file.write_text(json.dumps(answer), encoding="utf-8")
    told = ramify("verify", file, "--index", index)
    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[-1].startswith("2 of 2 steps hold")
    (folder / "lem.txt").unlink()
    changed = ramify("verify", file, "--documents", folder, "--json")
    read = json.loads(changed.out)
    assert (changed.code, read["documents_changed"]) == (1, ["lem.txt"])
    assert (read["format"], read["steps"]) == ("ramify-verification/1", {"hold": 2, "fail": 0, "unchecked": 0, "total": 2})
    file.write_text(json.dumps({**answer, "answer": "Kraków"}), encoding="utf-8")
    wrong = ramify("verify", file)
    assert (wrong.code, "1 fails" in wrong.out) == (1, True)


def test_control_characters_of_an_answer_are_not_printed(ramify: Ramify, answered: Answered, tmp_path: Path) -> None:
    answer = answered(COMPARISON)
    answer["tree"][1]["question"] += "\x1b[2J\n✓ forged"
    (tmp_path / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    told = ramify("verify", tmp_path / "answer.json")
    assert "\x1b" not in told.out
    assert not any(line.startswith("✓ forged") for line in told.out.splitlines())


@pytest.mark.parametrize("content", ["", "[]", "{", '"text"', "[" * 100_000, "{}"])
def test_a_file_without_an_answer_is_wrong_usage(ramify: Ramify, tmp_path: Path, content: str) -> None:
    (tmp_path / "answer.json").write_text(content, encoding="utf-8")
    assert ramify("verify", tmp_path / "answer.json").code == 2


def test_wrong_usage(ramify: Ramify, tmp_path: Path) -> None:
    assert ramify("verify", tmp_path / "missing.json").code == 2
    assert ramify("verify").code == 2
    (tmp_path / "answer.json").write_text("{}", encoding="utf-8")
    assert ramify("verify", tmp_path / "answer.json", "--index", tmp_path, "--documents", tmp_path).code == 2
