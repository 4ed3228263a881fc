"""Which pages and programs the development server answers."""

import json
import re
import socket

import pytest

from ramify.studio.server import guard
from ramify.studio.server.guard import origin_pattern
from ramify.studio.server.langgraph_json import configuration
from tests.faults import fault
from tests.studio.dev_server import DevServer
from tests.studio.server.guard.conftest import ALLOWED_ORIGIN, ASKED, LOCAL, run, send

FOREIGN_ORIGIN = "http://evil.example"
SIMPLE = ("text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None)
"""What a browser sends to another site without asking that site beforehand."""
ROUTES = (
    ("GET", "/ok"),
    ("GET", "/info"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("GET", "/metrics"),
    ("POST", "/mcp"),
    ("POST", "/runs/wait"),
    ("POST", "/runs/stream"),
    ("POST", "/threads"),
    ("POST", "/threads/search"),
    ("POST", "/assistants/search"),
    ("POST", "/store/items/search"),
    ("POST", "/a2a/naive"),
    ("POST", "/ui/naive"),
    ("POST", "/internal/truncate"),
    ("DELETE", "/store/items"),
    ("OPTIONS", "/runs/wait"),
    ("GET", "/no/such/route"),
)


class TestPages:
    """Which pages are answered."""

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    @fault("servers", "page of another origin, at Studio's server", sees="refused", kept="nothing runs", code="403")
    def test_a_foreign_page_is_refused_at_every_route(self, server: DevServer, method: str, path: str) -> None:
        body = {} if method == "POST" else None
        for origin in (FOREIGN_ORIGIN, "null", "https://smith.langchain.com.evil.example", "http://localhost.evil.example:2024"):
            refused = send(server, method, path, body, origin=origin, content_type="application/json")
            assert refused.status_code == 403
            assert f"--allow-origin {origin}" in refused.json()["detail"]
            assert "access-control-allow-origin" not in refused.headers

    @pytest.mark.parametrize(("method", "path"), ROUTES)
    @fault("servers", "foreign host name that resolves to Studio's server (DNS rebinding)", sees="refused", kept="nothing runs", code="403")
    def test_an_unknown_host_name_is_rejected_at_every_route(self, server: DevServer, method: str, path: str) -> None:
        body = {} if method == "POST" else None
        port = server.url.rpartition(":")[2]
        refused = send(server, method, path, body, host=f"evil.example:{port}", content_type="application/json")
        assert refused.status_code == 403
        assert "host name 'http://evil.example:" in refused.json()["detail"]

    @pytest.mark.parametrize("kind", SIMPLE)
    @pytest.mark.parametrize("path", ["/runs/wait", "/mcp", "/threads", "/assistants/search"])
    @fault("servers", "form that a browser sends without asking", sees="refused", kept="nothing runs", code="415")
    def test_what_needs_no_preflight_is_not_read(self, server: DevServer, path: str, kind: str | None) -> None:
        given = {"assistant_id": "naive", "input": ASKED, "context": LOCAL}
        refused = send(server, "POST", path, given, content_type=kind)
        assert refused.status_code == 415
        assert "application/json" in refused.json()["detail"]

    def test_the_pictures_and_frames_of_a_foreign_page_are_refused_but_a_link_may_be_followed(self, server: DevServer) -> None:
        crossing: dict[str, str | None] = {"sec_fetch_site": "cross-site"}
        for kind in ("image", "script", "iframe", "empty"):
            assert send(server, "GET", "/docs", **crossing, sec_fetch_dest=kind).status_code == 403
        assert send(server, "GET", "/docs", **crossing, sec_fetch_dest="document").status_code == 200
        assert send(server, "POST", "/internal/truncate", **crossing, sec_fetch_dest="document").status_code == 403

    @pytest.mark.parametrize("origin", [FOREIGN_ORIGIN, "null"])
    @fault("servers", "web socket of another origin", sees="refused", kept="nothing runs", code="403")
    def test_a_foreign_page_opens_no_socket(self, server: DevServer, origin: str) -> None:
        assert self.handshake(server, origin).startswith("HTTP/1.1 403")
        assert not self.handshake(server, "http://localhost:3000").startswith("HTTP/1.1 403")

    @staticmethod
    def handshake(server: DevServer, origin: str) -> str:
        name, port = server.url.removeprefix("http://").split(":")
        thread = send(server, "POST", "/threads", {}, content_type="application/json").json()["thread_id"]
        upgrade = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        )
        with socket.create_connection((name, int(port)), timeout=30) as line:
            head = f"GET /threads/{thread}/stream/events HTTP/1.1\r\nHost: {name}:{port}\r\nOrigin: {origin}\r\n{upgrade}\r\n"
            line.sendall(head.encode())
            return line.recv(4096).decode()

    @pytest.mark.parametrize(
        "origin", ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:80", "https://smith.langchain.com", ALLOWED_ORIGIN]
    )
    def test_pages_on_the_list_are_answered_and_named_in_the_headers(self, server: DevServer, origin: str) -> None:
        wanted = {"access_control_request_method": "POST", "access_control_request_headers": "content-type"}
        assert send(server, "OPTIONS", "/assistants/search", origin=origin, **wanted).headers["access-control-allow-origin"] == origin
        answered = send(server, "POST", "/assistants/search", {}, origin=origin, content_type="application/json")
        assert answered.status_code == 200
        assert answered.headers["access-control-allow-origin"] == origin
        assert "x-pagination-total" in answered.headers["access-control-expose-headers"]

    @pytest.mark.parametrize("host", ["localhost:1", "[::1]:2024", "friend.example"])
    def test_names_on_the_list_are_answered(self, server: DevServer, host: str) -> None:
        assert send(server, "GET", "/info", host=host).status_code == 200

    def test_a_program_is_answered(self, server: DevServer) -> None:
        assert run(server, LOCAL)["answer"] == "László Bíró"


def test_a_langgraph_json_without_a_list_has_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGGRAPH_HTTP", json.dumps({"app": "ramify.studio.server.guard:app"}))
    assert guard.configured_origins() == origin_pattern()
    monkeypatch.setenv("LANGGRAPH_HTTP", json.dumps(configuration([ALLOWED_ORIGIN])["http"]))
    assert re.fullmatch(guard.configured_origins(), ALLOWED_ORIGIN)
