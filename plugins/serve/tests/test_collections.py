"""Collections that users make: of documents that they send, and of folders that the server was started with."""

import base64
import gzip
import threading
from pathlib import Path
from typing import Any

import pytest

from plugins.serve.tests.conftest import TIMEOUT_S, Running, Serve, read_events, wait_until
from ramify.serve import collections
from ramify.tools.index.index_writer import IndexWriter
from ramify.tools.index.unfinished import BY_WORDS
from tests.faults import fault

KEEPER = "The first keeper of the lighthouse of Arda was Jonas Vell.\n"


def send(server: Running, name: str, file: str, content: bytes, offset: int = 0) -> Any:
    body = {"file": file, "offset": offset, "content": base64.b64encode(content).decode()}
    return server.call("POST", f"/collections/{name}/documents", json=body)


def index(server: Running, name: str) -> list[tuple[str, Any]]:
    assert server.call("POST", f"/collections/{name}/index", json={}).status_code == 202
    return list(read_events(iter(server.call("GET", f"/collections/{name}/progress").text.splitlines())))


def list_collections(server: Running) -> dict[str, Any]:
    return {entry["name"]: entry for entry in server.call("GET", "/collections").json()["collections"]}


def refusal(reply: Any) -> str:
    assert reply.status_code == 400, reply.text
    return str(reply.json()["error"]["message"])


def test_documents_that_are_sent_can_be_asked(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    assert server.call("POST", "/collections", json={"name": "arda"}).json() == {"name": "arda"}
    assert server.call("POST", "/collections", json={"name": "My papers (2026)"}).json() == {"name": "My papers (2026)"}
    assert list_collections(server)["arda"]["documents"] is None
    assert send(server, "arda", "keeper.txt", KEEPER[:20].encode()).json()["bytes"] == 20
    assert send(server, "arda", "keeper.txt", KEEPER[20:].encode(), 20).json()["bytes"] == len(KEEPER)
    send(server, "arda", "broken.pdf", b"%PDF-1.4 nothing")
    *progress, (kind, built) = index(server, "arda")
    assert {name for name, _ in progress} <= {"progress"}
    assert (kind, built["documents"], [entry["name"] for entry in built["skipped"]]) == ("built", 1, ["broken.pdf"])
    assert list_collections(server)["arda"] | {"passages": 1} == list_collections(server)["arda"]
    documents = server.call("GET", "/collections/arda/documents").json()
    assert documents["files"] == [{"name": "keeper.txt", "passages": 1, "remarks": [], "first": "keeper.txt"}]
    assert [entry["name"] for entry in documents["skipped"]] == ["broken.pdf"]
    result = dict(server.ask("Who was the first keeper of the lighthouse of Arda?", collection="arda"))["result"]
    assert result["answer"] == "Jonas Vell"
    place = {"collection": "arda", "passage": result["citations"][0]["id"]}
    assert server.call("GET", "/file", params=place).text == KEEPER


def test_a_document_and_a_collection_are_deleted(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    for file in ("keeper.txt", "other.txt", "part#2.txt"):
        send(server, "arda", file, f"{file}: {KEEPER}".encode())
    index(server, "arda")
    assert server.call("DELETE", "/collections/arda/documents", params={"file": "other.txt"}).status_code == 200
    assert server.call("DELETE", "/collections/arda/documents", params={"file": "part#2.txt"}).status_code == 200
    assert server.call("DELETE", "/collections/arda/documents", params={"file": "other.txt"}).status_code == 404
    assert index(server, "arda")[-1][1]["removed"] == 2
    assert server.call("DELETE", "/collections/arda").json() == {"deleted": "arda"}
    assert "arda" not in list_collections(server)
    assert list((tmp_path / "collections").iterdir()) == []


def test_collections_are_there_after_a_restart(serve: Serve) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    send(server, "arda", "keeper.txt", KEEPER.encode())
    index(server, "arda")
    assert list_collections(serve())["arda"]["documents"] == 1


def test_only_released_folders_are_indexed(serve: Serve, tmp_path: Path) -> None:
    released, secret = tmp_path / "released", tmp_path / "secret"
    for folder in (released / "below", secret):
        folder.mkdir(parents=True)
        (folder / "keeper.txt").write_text(KEEPER, encoding="utf-8")
    (released / "link").symlink_to(secret)
    server = serve(documents=[released])
    assert server.call("GET", "/collections").json()["folders"] == [str(released)]
    for place in (secret, released / ".." / "secret", released / "link", "/", ""):
        assert "--documents DIR" in refusal(server.call("POST", "/collections", json={"name": "x", "folder": str(place)}))
    made = server.call("POST", "/collections", json={"name": "arda", "folder": str(released / "below")}).json()["name"]
    assert index(server, made)[-1][1]["documents"] == 1
    assert "change them there" in refusal(send(server, made, "keeper.txt", b"other"))
    assert server.call("DELETE", f"/collections/{made}").status_code == 200
    assert (released / "below" / "keeper.txt").exists()


@pytest.mark.parametrize("file", ["", ".", "..", "../keeper.txt", "a/b.txt", "a\\b.txt", ".hidden", "a\x00b", "a\nb", "x" * 300, "\u202ea"])
@fault(
    "servers",
    "document uploaded with a path outside its folder",
    sees="one line; nothing is written",
    kept="the folder as it was",
    code="400",
)
def test_no_name_of_a_document_escapes(serve: Serve, file: str) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    assert "not a valid document name" in refusal(send(server, "arda", file, b"text"))


@pytest.mark.parametrize("name", ["", "..", "a/b", ".a", "a.", "a ", "a+b", "a\n", "x" * 41, "demo"])
def test_no_name_of_a_collection_escapes(serve: Serve, name: str) -> None:
    assert "not a valid collection name" in refusal(serve().call("POST", "/collections", json={"name": name}))


def test_collections_of_the_operator_are_not_changed(serve: Serve) -> None:
    server = serve()
    for method, path in (("DELETE", ""), ("POST", "/index")):
        assert "was made on this server" in refusal(server.call(method, f"/collections/demo{path}", json={} if method == "POST" else None))
    assert "was made on this server" in refusal(send(server, "demo", "keeper.txt", b"text"))


@fault("servers", "documents beyond the limit of a collection", sees="one line with the limit", kept="the collection as it was", code="400")
def test_sizes_are_limited(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    monkeypatch.setattr(collections, "MAX_FILE_BYTES", 10)
    assert "larger than" in refusal(send(server, "arda", "a.txt", b"x" * 11))
    monkeypatch.setattr(collections, "MAX_COLLECTION_BYTES", 15)
    send(server, "arda", "a.txt", b"x" * 10)
    assert "would be larger" in refusal(send(server, "arda", "b.txt", b"x" * 6))
    monkeypatch.setattr(collections, "MAX_FILES", 1)
    assert "already has 1 documents" in refusal(send(server, "arda", "b.txt", b"x"))
    assert "does not follow" in refusal(send(server, "arda", "a.txt", b"x", 3))
    body = {"file": "a.txt", "content": "no base64!"}
    assert "not base64" in refusal(server.call("POST", "/collections/arda/documents", json=body))


@fault(
    "servers",
    "upload of a small file with very many records",
    sees="the number of documents allowed",
    kept="other collections are indexed; after its deletion, the rest of this one",
    code="400",
)
def test_the_number_of_records_is_limited(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "MAX_DOCUMENTS", 1000)
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    send(server, "arda", "keeper.txt", KEEPER.encode())
    send(server, "arda", "many.jsonl.gz", gzip.compress(b"".join(b'{"text": "record %d"}\n' % number for number in range(20_000))))
    kind, failure = index(server, "arda")[-1]
    assert (kind, failure["kind"]) == ("error", "usage")
    assert "more than 1,000 documents" in failure["message"]
    server.call("DELETE", "/collections/arda/documents", params={"file": "many.jsonl.gz"})
    kind, built = index(server, "arda")[-1]
    assert (kind, built["documents"]) == ("built", 1)


def test_a_deletion_keeps_nobody_waiting(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, removing, removed = serve(), threading.Event(), threading.Event()

    def remove(folder: Path) -> None:
        removing.set()
        assert removed.wait(TIMEOUT_S)

    monkeypatch.setattr(collections, "remove_folder", remove)
    for name in ("large", "arda"):
        server.call("POST", "/collections", json={"name": name})
        send(server, name, "keeper.txt", KEEPER.encode())
    deleting = threading.Thread(target=server.call, args=("DELETE", "/collections/large"))
    deleting.start()
    assert removing.wait(TIMEOUT_S)
    try:
        assert index(server, "arda")[-1][0] == "built"
    finally:
        removed.set()
        deleting.join()


def test_a_collection_without_readable_documents_is_reported(serve: Serve) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    send(server, "arda", "broken.pdf", b"%PDF-1.4 nothing")
    kind, error = index(server, "arda")[-1]
    assert (kind, error["kind"]) == ("error", "input")
    assert server.call("GET", "/collections/arda/documents").json()["files"] == [
        {"name": "broken.pdf", "passages": 0, "remarks": [], "first": ""}
    ]


def test_indexing_is_stopped(serve: Serve) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    for number in range(40):
        send(server, "arda", f"{number}.txt", (f"{number} {KEEPER}" * 200).encode())
    server.call("POST", "/collections/arda/index", json={})
    assert "is being indexed" in refusal(server.call("DELETE", "/collections/arda"))
    assert server.call("POST", "/collections/arda/stop", json={}).json() == {"stopped": True}
    wait_until(lambda: not list_collections(server)["arda"]["building"])
    end = list(read_events(iter(server.call("GET", "/collections/arda/progress").text.splitlines())))[-1]
    assert end[0] == "error"
    assert "stopped" in end[1]["message"]


def test_a_token_is_needed(serve: Serve) -> None:
    server = serve(tokens=["ada:ada-has-a-secret"])
    assert server.call("POST", "/collections", json={"name": "arda"}).status_code == 401
    assert server.call("POST", "/collections", token="ada-has-a-secret", json={"name": "arda"}).status_code == 200


@fault("servers", "user who changes another user's collection", sees="403", kept="the collection as it was", code="400")
def test_only_who_made_a_collection_changes_it(serve: Serve, tmp_path: Path) -> None:
    ada, ben = "ada-has-a-secret", "ben-has-another"
    server = serve(tokens=[f"ada:{ada}", f"ben:{ben}"], documents=[tmp_path])
    server.call("POST", "/collections", token=ada, json={"name": "arda"})
    body = {"file": "keeper.txt", "content": base64.b64encode(KEEPER.encode()).decode()}
    for method, path, given in (
        ("POST", "/documents", {"json": body}),
        ("POST", "/index", {"json": {}}),
        ("POST", "/stop", {"json": {}}),
        ("DELETE", "/documents", {"params": {"file": "keeper.txt"}}),
        ("DELETE", "", {}),
    ):
        assert "made by another user" in refusal(server.call(method, f"/collections/arda{path}", token=ben, **given))
    assert server.call("POST", "/collections/arda/documents", token=ada, json=body).status_code == 200
    assert server.call("POST", "/collections/arda/index", token=ada, json={}).status_code == 202
    assert server.call("GET", "/collections/arda/progress", token=ben).status_code == 200
    for token, changeable in ((ada, True), (ben, False)):
        listed = server.call("GET", "/collections", token=token).json()["collections"]
        assert {entry["name"]: entry.get("changeable") for entry in listed} == {"demo": None, "arda": changeable}
        assert "was made on this server" in refusal(server.call("DELETE", "/collections/demo", token=token))
    assert (
        dict(server.ask("Who was the first keeper of the lighthouse of Arda?", ben, collection="arda"))["result"]["answer"] == "Jonas Vell"
    )
    assert server.call("POST", "/collections", token=ben, json={"name": "arda"}).json() == {"name": "arda-2"}
    assert server.call("DELETE", "/collections/arda", token=ada).status_code == 200


def test_without_tokens_all_is_one_user_s(serve: Serve) -> None:
    token = "ada-has-a-secret"
    serve(tokens=[f"ada:{token}"]).call("POST", "/collections", token=token, json={"name": "arda"})
    server = serve()
    assert list_collections(server)["arda"]["changeable"] is True
    assert server.call("DELETE", "/collections/arda").status_code == 200


def test_a_collection_is_asked_while_its_meanings_are_computed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, computing, store = serve(), threading.Event(), IndexWriter.store_vectors

    def wait(*given: Any) -> None:
        assert computing.wait(TIMEOUT_S)
        store(*given)

    server.call("POST", "/collections", json={"name": "arda"})
    send(server, "arda", "keeper.txt", KEEPER.encode())
    with monkeypatch.context() as patch:
        patch.setattr(IndexWriter, "store_vectors", wait)
        server.call("POST", "/collections/arda/index", json={})
        wait_until(lambda: list_collections(server)["arda"]["passages"] == 1)
        assert list_collections(server)["arda"]["building"]
        assert server.call("GET", "/collections/arda/documents").json()["files"] == [
            {"name": "keeper.txt", "passages": 1, "remarks": [], "first": "keeper.txt"}
        ]
        early = dict(server.ask("Who was the first keeper of the lighthouse of Arda?", collection="arda"))["result"]
        computing.set()
        wait_until(lambda: not list_collections(server)["arda"]["building"])
    late = dict(server.ask("Who was the first keeper of the lighthouse of Arda?", collection="arda"))["result"]
    assert early["answer"] == late["answer"] == "Jonas Vell"
    assert [any(BY_WORDS in notice for notice in result["notices"]) for result in (early, late)] == [True, False]


def test_a_question_is_answered_from_chosen_files_only(serve: Serve) -> None:
    server = serve()
    server.call("POST", "/collections", json={"name": "arda"})
    send(server, "arda", "keeper.txt", KEEPER.encode())
    send(server, "arda", "keepers.csv", b"lighthouse,keeper\nArda,Mara Lind\nOskel,Tom Reed\n")
    index(server, "arda")
    asked = "Who was the first keeper of the lighthouse of Arda?"

    def sources(*files: str) -> set[str]:
        result = dict(server.ask(asked, collection="arda", files=list(files), strategy="naive"))["result"]
        return {passage["source"].partition("#")[0] for passage in result["citations"]}

    assert sources("keeper.txt") == {"keeper.txt"}
    assert sources("keepers.csv") == {"keepers.csv"}
    assert sources() >= {"keeper.txt"}
    for body in ({"collection": "arda", "files": ["gone.txt"]}, {"collection": "arda+demo", "files": ["keeper.txt"]}):
        assert "choose" in refusal(server.call("POST", "/ask", json={"question": asked, **body})) or "name one" in refusal(
            server.call("POST", "/ask", json={"question": asked, **body})
        )


def test_questions_are_suggested_from_the_documents(serve: Serve) -> None:
    server = serve()
    assert "What is Budapest?" in server.call("GET", "/collections/demo/questions").json()["questions"]
    server.call("POST", "/collections", json={"name": "arda"})
    send(
        server,
        "arda",
        "lamp.md",
        b"# Arda lamp\n\nThe Arda lamp is a bright lamp of the harbour.\n\nTo clean the lens, use warm water and soap.\n",
    )
    index(server, "arda")
    lamp = ["What is the Arda lamp?", "How do you clean the lens?"]
    assert server.call("GET", "/collections/arda/questions").json()["questions"] == lamp
    send(server, "arda", "bell.md", b"# Oskel bell\n\nThe Oskel bell is a large bell of the river.\n")
    index(server, "arda")
    of_all = server.call("GET", "/collections/arda/questions").json()["questions"]
    assert of_all == ["What is the Oskel bell?", *reversed(lamp)], "one of each file first"
    assert server.call("GET", "/collections/arda/questions?file=lamp.md").json()["questions"] == lamp
    assert server.call("GET", "/collections/none/questions").status_code == 400
