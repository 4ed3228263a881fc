"""Requests that do not arrive, and those that are too large: of a server in this process, whose limits are close; and of the real one."""

import json
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from ramify.studio.server import guard as limits
from ramify.studio.server.guard import MAX_BODY_BYTES, Guard, LimitedProtocol
from tests.faults import fault
from tests.studio.dev_server import RAMIFY, DevServer, free_port
from tests.studio.server.guard.conftest import ASKED, LOCAL, send

HEAD = b"POST /threads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
HALVES = (b"", b"POST /thr", HEAD, HEAD + b"Content-Length: 9\r\n\r\n[1,", HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n")


async def count(scope: Scope, receive: Receive, send: Send) -> None:
    """Say how long the body is."""
    await JSONResponse(len(await Request(scope, receive).body()))(scope, receive, send)


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    monkeypatch.setattr(limits, "TIMEOUT_S", 1.0)
    server = uvicorn.Server(uvicorn.Config(Guard(count), http=LimitedProtocol, lifespan="off", log_level="critical"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server.config.port = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield server
        server.should_exit = True
        thread.join()


def port_of(server: DevServer) -> int:
    return int(server.url.rpartition(":")[2])


def opened(port: int, *parts: bytes) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), timeout=60)
    for part in parts:
        line.sendall(part)
    return line


def heard(line: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    said = b""
    with line:
        try:
            while more := line.recv(4096):
                said += more
        except ConnectionResetError:  # it did not read to the end
            pass
    return said


@fault(
    "servers",
    "hundreds of half-sent requests",
    sees="the connection is closed in time",
    kept="the server goes on, no connection is left",
    code="408",
)
def test_hundreds_of_half_sent_requests_are_closed_and_leave_nothing_behind(limited: uvicorn.Server) -> None:
    lines = [opened(limited.config.port, half) for half in HALVES * 60]
    assert Counter(heard(line)[:12] for line in lines) == {b"HTTP/1.1 408": 300}
    assert heard(opened(limited.config.port, HEAD, b"Connection: close\r\nContent-Length: 4\r\n\r\n", b"[", b"12]")).endswith(b"\r\n\r\n4")
    assert not limited.server_state.connections


def test_a_half_sent_request_is_closed_after_a_whole_one_on_the_same_connection(limited: uvicorn.Server) -> None:
    line = opened(limited.config.port, HEAD, b"Content-Length: 2\r\n\r\n[]")
    assert line.recv(4096).startswith(b"HTTP/1.1 200")
    line.sendall(HEAD)
    assert heard(line).startswith(b"HTTP/1.1 408")


@fault("servers", "body beyond the limit", sees="refused", kept="the server goes on; it is not read to its end", code="413")
def test_a_body_is_read_up_to_the_limit(limited: uvicorn.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_BODY_BYTES", 6)
    whole = HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n3\r\n22]\r\n"
    assert heard(opened(limited.config.port, whole, b"0\r\n\r\n")).endswith(b"\r\n\r\n6")
    assert heard(opened(limited.config.port, whole, b"1\r\n \r\n")).startswith(b"HTTP/1.1 413")


class TestDevServer:
    """`ramify studio` keeps these limits."""

    @fault("servers", "body of 300 MB announced", sees="refused", kept="the server goes on; it is not read", code="413")
    def test_a_body_of_300_mb_is_refused_unread(self, server: DevServer) -> None:
        line = opened(port_of(server), HEAD, b"Content-Length: 300000000\r\n\r\n")
        assert heard(line).startswith(b"HTTP/1.1 413")

    @fault("servers", "header of 2 MB", sees="an error of HTTP, and the connection closed", kept="the server continues", code="400")
    def test_a_header_of_2_mb_is_not_read_to_its_end(self, server: DevServer) -> None:
        with suppress(ConnectionError):  # closed before all of it was sent
            line = opened(port_of(server), b"GET /ok HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ", b"a" * 2_000_000)
            assert heard(line)[:12] in (b"HTTP/1.1 400", b"")

    def test_a_long_state_is_taken(self, server: DevServer) -> None:
        thread = send(server, "POST", "/threads", {}, content_type="application/json").json()["thread_id"]
        asked = {"assistant_id": "naive", "input": ASKED, "context": LOCAL}
        send(server, "POST", f"/threads/{thread}/runs/wait", asked, content_type="application/json")
        passages = {str(number): {"id": str(number), "text": "word " * 400, "source": "a.txt", "score": 0.5} for number in range(3_000)}
        state = json.dumps({"values": {"passages": passages}})
        assert 6_000_000 < len(state) < MAX_BODY_BYTES
        assert send(server, "POST", f"/threads/{thread}/state", state, content_type="application/json").status_code == 200


def test_invalid_seconds_are_rejected_before_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.TIMEOUT_VARIABLE, "soon")
    done = subprocess.run([RAMIFY, "studio", "--port", str(free_port())], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"{limits.TIMEOUT_VARIABLE}='soon' is not a number of seconds" in done.stderr
