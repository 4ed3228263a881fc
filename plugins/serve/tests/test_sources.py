"""The text and the file of a passage, and that nothing else on the machine can be read."""

import shutil
from pathlib import Path

import pytest

from plugins.serve.tests.conftest import INVENTOR, Serve
from ramify.studio.cli import run
from ramify.tools.demo import demo_corpus
from tests.faults import fault

SECRET = "what nobody is to read"


def test_a_citation_is_found_in_its_passage(serve: Serve) -> None:
    server = serve(strategy="naive")
    [citation, *_] = server.ask(INVENTOR)[-1][1]["citations"]
    passage = server.call("GET", "/source", params={"collection": "demo", "passage": citation["id"], "quote": citation["quote"]}).json()
    for name in ("id", "text", "title", "source", "heading", "page", "start", "end"):
        assert passage[name] == citation[name]
    assert passage["text"][passage["start"] : passage["end"]].startswith("The first practical model")
    assert passage["file"] is True
    assert not {"path", "link"} & passage.keys()


def test_a_file_can_be_read_on_passage_by_passage(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    for name in ("first.md", "second.md"):
        (tmp_path / "papers" / name).write_text(
            "".join(f"# Part {n}\n\n{f'Sentence {n} of {name}. ' * 120}\n\n" for n in range(3)), encoding="utf-8"
        )
    assert run(["index", str(tmp_path / "papers"), "--out", str(tmp_path / "index")]) == 0
    server = serve(tmp_path / "index")
    [first] = [one for one in server.call("GET", "/collections/index/documents").json()["files"] if one["name"] == "second.md"]
    read, passage = [], first["first"]
    while passage:
        shown = server.call("GET", "/source", params={"passage": passage}).json()
        assert shown["before"] == (read[-1]["id"] if read else "")
        read.append(shown)
        passage = shown["after"]
    assert len(read) == first["passages"] > 2
    assert all(shown["name"].endswith("second.md") for shown in read)


def test_reading_on_stays_in_the_file(serve: Serve, tmp_path: Path) -> None:
    for folder in ("north", "south"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.md").write_text(f"# Notes\n\nWhat is told of the {folder} is told here.\n", encoding="utf-8")
    assert run(["index", str(tmp_path / "north"), str(tmp_path / "south"), "--out", str(tmp_path / "index")]) == 0
    server = serve(tmp_path / "index")
    files = server.call("GET", "/collections/index/documents").json()["files"]
    shown = [server.call("GET", "/source", params={"passage": one["first"]}).json() for one in files]
    assert len({one["text"] for one in shown}) == 2
    assert {one[beside] for one in shown for beside in ("before", "after")} == {""}


@fault("servers", "scripts in a document that is shown", sees="shown without them", kept="all", code="200")
def test_the_file_of_a_passage_is_shown_without_its_scripts(serve: Serve) -> None:
    shown = serve().call("GET", "/file", params={"passage": "laszlo-biro"})
    assert shown.content == demo_corpus().read_bytes()
    assert shown.headers["content-type"].startswith("text/plain")
    assert shown.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert shown.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("passage", ["", "nobody", "../corpus.jsonl", "/etc/hostname", "%2Fetc%2Fhostname"])
@fault("servers", "path instead of a passage's name", sees="not found", kept="nothing is read", code="404")
def test_what_is_no_passage_is_not_there(serve: Serve, passage: str) -> None:
    server = serve()
    for path in ("/source", "/file"):
        assert server.call("GET", path, params={"passage": passage}).status_code == 404
    for wrong in ("/etc", "..", "index"):
        assert server.call("GET", "/source", params={"collection": wrong, "passage": "laszlo-biro"}).status_code == 400


@fault("servers", "link that leads out of an allowed folder", sees="not found", kept="the file is not read", code="404")
def test_a_file_outside_of_the_folder_is_not_read_whatever_leads_there(serve: Serve, tmp_path: Path) -> None:
    papers, index = tmp_path / "papers", tmp_path / "index"
    papers.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET, encoding="utf-8")
    (papers / "link.txt").symlink_to(tmp_path / "secret.txt")
    (papers / "told.jsonl").write_text('{"id": "told", "text": "It says where it lies.", "path": "/etc/hostname"}\n', encoding="utf-8")
    (papers / "plain.txt").write_text("This one lies where it says.", encoding="utf-8")
    (papers / "later.txt").write_text("This one is replaced by a link after it was read.", encoding="utf-8")
    assert run(["index", str(papers), "--out", str(index)]) == 0
    (papers / "later.txt").unlink()
    (papers / "later.txt").symlink_to(tmp_path / "secret.txt")
    server = serve(index)
    shown = {name: server.call("GET", "/file", params={"passage": name}) for name in ("plain.txt", "later.txt", "link.txt", "told")}
    assert shown["plain.txt"].text == "This one lies where it says."
    assert shown["told"].status_code == 404 or "/etc/hostname" in shown["told"].text, "its own file, and not the one that it names"
    assert [shown[name].status_code for name in ("later.txt", "link.txt")] == [404, 404]
    shutil.rmtree(papers)
    assert server.call("GET", "/file", params={"passage": "plain.txt"}).status_code == 404
    assert server.call("GET", "/source", params={"passage": "plain.txt"}).json()["file"] is False
