"""Uploads that are not completed: a client that leaves, a part that is missing, a disk that is full."""

import base64
import json
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from plugins.serve.tests.conftest import Running, Serve, wait_until
from plugins.serve.tests.test_collections import KEEPER, index, refusal
from ramify.serve import collections
from tests.faults import fault

CONTENT = (KEEPER * 20).encode()
PATH = "/ramify/v1/collections/arda/documents"


def send(server: Running, content: bytes, offset: int = 0, file: str = "keeper.txt", **given: Any) -> Any:
    body = {"file": file, "offset": offset, "content": base64.b64encode(content).decode(), **given}
    return server.call("POST", "/collections/arda/documents", json=body)


def listed(server: Running) -> tuple[list[str], list[str]]:
    """The names of the documents, and of those that were skipped."""
    documents = server.call("GET", "/collections/arda/documents").json()
    return [entry["name"] for entry in documents["files"]], [entry["name"] for entry in documents["skipped"]]


@pytest.fixture
def server(serve: Serve) -> Running:
    made = serve()
    made.call("POST", "/collections", json={"name": "arda"})
    return made


@fault("servers", "client that leaves between two parts of a document", sees="the document is listed as incomplete", kept="the others")
def test_a_document_of_which_parts_are_missing_is_not_indexed(server: Running) -> None:
    send(server, b"Jonas Vell kept the lighthouse.", file="other.txt")
    assert send(server, CONTENT[:100], size=len(CONTENT)).json()["bytes"] == 100
    assert listed(server) == (["other.txt"], ["keeper.txt"])
    kind, built = index(server, "arda")[-1]
    assert (kind, built["documents"]) == ("built", 1)
    assert listed(server) == (["other.txt"], ["keeper.txt"])
    assert send(server, CONTENT[100:], 100, size=len(CONTENT)).json()["bytes"] == len(CONTENT)
    assert index(server, "arda")[-1][1]["documents"] == 2
    assert sorted(listed(server)[0]) == ["keeper.txt", "other.txt"]


def test_a_document_that_is_sent_again_stays_as_it_was_until_it_is_complete(server: Running, tmp_path: Path) -> None:
    document = tmp_path / "collections" / "arda" / "documents" / "keeper.txt"
    send(server, CONTENT)
    send(server, b"new ", size=8)
    assert document.read_bytes() == CONTENT
    send(server, b"text", 4, size=8)
    assert document.read_bytes() == b"new text"
    assert listed(server) == (["keeper.txt"], [])


@pytest.mark.parametrize(
    ("content", "offset", "size"), [(b"xx", 4, 10), (b"xx", 2, 10), (b"x" * 8, 3, 10), (b"x" * 11, 0, 10), (b"x", 0, 0), (b"", 7, 7)]
)
def test_a_part_that_does_not_fit_is_refused(server: Running, content: bytes, offset: int, size: int) -> None:
    send(server, b"abc", size=10)
    assert "send the file again from 0" in refusal(send(server, content, offset, size=size))
    assert listed(server)[0] == []


def test_an_empty_document_is_complete(server: Running) -> None:
    assert send(server, b"", size=0).json()["bytes"] == 0
    assert listed(server) == (["keeper.txt"], [])


def test_an_incomplete_document_is_deleted(server: Running, tmp_path: Path) -> None:
    send(server, b"abc", size=10)
    assert server.call("DELETE", "/collections/arda/documents", params={"file": "keeper.txt"}).status_code == 200
    assert listed(server) == ([], [])
    assert [path for path in (tmp_path / "collections" / "arda").rglob("*") if path.name == "keeper.txt"] == []


def test_an_announced_size_is_limited(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "MAX_FILE_BYTES", 50)
    assert "larger than 50 bytes" in refusal(send(server, b"abc", size=51))
    monkeypatch.setattr(collections, "MAX_COLLECTION_BYTES", 52)
    send(server, b"abc", size=20)
    assert "would be larger" in refusal(send(server, b"abc", size=50, file="other.txt"))


BODY = json.dumps({"file": "keeper.txt", "content": base64.b64encode(CONTENT).decode()}).encode()
HEAD = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CUT_REQUESTS = {
    "length": f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY[: len(BODY) // 2],
    "all but a byte": f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY[:-1],
    "no body": f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n".encode(),
    "chunks": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n{len(BODY):x}\r\n".encode() + BODY[: len(BODY) // 2],
    "no last chunk": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n{len(BODY):x}\r\n".encode() + BODY + b"\r\n",
    "size of a chunk": f"{HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode() + BODY,
    "shorter length": f"{HEAD}Content-Length: {len(BODY) // 2}\r\n\r\n".encode() + BODY,
}


@fault(
    "servers", "client that leaves in the middle of an upload", sees="nothing: it is gone", kept="the documents as they were", code="none"
)
@pytest.mark.parametrize("cut", CUT_REQUESTS)
def test_a_request_that_is_cut_leaves_nothing(server: Running, cut: str, caplog: pytest.LogCaptureFixture) -> None:
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(CUT_REQUESTS[cut].replace(b"localhost", address.netloc.encode()))
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(60)
        while connection.recv(4096):
            pass
    wait_until(lambda: server.call("GET", "/about").status_code == 200)
    assert listed(server) == ([], [])
    assert "Traceback" not in caplog.text


@contextmanager
def full_disk(room: int) -> Iterator[None]:
    """Files cannot become larger than this, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@fault("disk", "full during an upload", sees="the disk of the server is full", kept="the other documents; nothing of this one", code="507")
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("with_size", [True, False])
def test_nothing_is_left_of_a_document_that_the_disk_has_no_room_for(
    server: Running, tmp_path: Path, parts: int, with_size: bool, caplog: pytest.LogCaptureFixture
) -> None:
    send(server, b"Jonas Vell kept the lighthouse.", file="other.txt")
    large = CONTENT * 500
    given = {"size": len(large)} if with_size else {}
    offset = 1000 if parts == 2 else 0
    if offset:
        send(server, large[:offset], **given)
    with full_disk(100_000):
        reply = send(server, large[offset:], offset, **given)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (507, "disk")
    assert "room" in reply.json()["error"]["message"]
    assert str(tmp_path) not in reply.text
    assert listed(server) == (["other.txt"], [])
    assert [path.name for path in (tmp_path / "collections").rglob("*.txt")] == ["other.txt"]
    assert "Traceback" not in caplog.text
    assert send(server, large, size=len(large)).status_code == 200, "with room, it is stored"


@fault("disk", "full when a collection is created", sees="the disk of the server is full", kept="the collections as they were", code="507")
def test_nothing_is_left_of_a_collection_that_the_disk_has_no_room_for(server: Running, tmp_path: Path) -> None:
    with full_disk(1):
        reply = server.call("POST", "/collections", json={"name": "other"})
    assert (reply.status_code, reply.json()["error"]["kind"]) == (507, "disk")
    assert str(tmp_path) not in reply.text
    assert [path.name for path in (tmp_path / "collections").iterdir()] == ["arda"]
    assert server.call("POST", "/collections", json={"name": "other"}).json() == {"name": "other"}
