"""ramify download of a model on the hub, tried with a small hub on loopback: its file lies on another server than its metadata."""

import hashlib
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import huggingface_hub
import pytest

from ramify.tools.errors import ModelError
from ramify.tools.models.gguf import find_gguf
from ramify.tools.models.hub import HUB_MODELS, folder_of
from tests.studio.conftest import Ramify

NAME = "llama3.2-3b"
MODEL = HUB_MODELS[NAME]
CONTENT = bytes(range(256)) * 12_000
TOKEN = "hf_abcdefghijklmnopqrstuvwxyz012345"


class Hub:
    """The hub, the server of its files, and what they are to do."""

    def __init__(self) -> None:
        self.content, self.sha256 = CONTENT, hashlib.sha256(CONTENT).hexdigest()
        self.cuts: list[int] = []
        """Bytes after which a transfer is cut off, for one transfer after another."""
        self.ranges = True
        self.status = 302
        self.metadata = True
        self.asked: list[tuple[str, str, str | None, str | None]] = []
        """Server, method, range and authorization of each request."""
        self._servers = [self._server("hub"), self._server("files")]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._servers[0].server_port}"

    def close(self) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _server(self, which: str) -> ThreadingHTTPServer:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

            def do_HEAD(self) -> None:
                self._reply()

            def do_GET(self) -> None:
                self._reply()

            def _reply(self) -> None:
                hub.asked.append((which, self.command, self.headers.get("Range"), self.headers.get("Authorization")))
                if which == "files":
                    hub.send(self)
                    return
                known = self.path == f"/{MODEL.repository}/resolve/main/{MODEL.file}"
                self.send_response(hub.status if known else 404)
                if hub.status == 302:
                    self.send_header("Location", f"http://localhost:{hub._servers[1].server_port}/blob?signed=secret")
                if hub.metadata:
                    self.send_header("X-Repo-Commit", "0" * 40)
                    self.send_header("X-Linked-Etag", f'"{hub.sha256}"')
                    self.send_header("X-Linked-Size", str(len(hub.content)))
                self.send_header("Content-Length", "0")
                self.end_headers()

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def send(self, request: BaseHTTPRequestHandler) -> None:
        """Send the file or the range of it that is asked for, as far as it is not to be cut off."""
        asked = request.headers.get("Range") if self.ranges else None
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        body = self.content[start:]
        request.send_response(206 if asked else 200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    made = Hub()
    monkeypatch.setenv("HF_ENDPOINT", made.url)
    monkeypatch.setenv("RAMIFY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # as it is for all other tests
    huggingface_hub.close_session()  # a client is made for either
    yield made
    huggingface_hub.close_session()
    made.close()


def transfers(hub: Hub) -> list[str | None]:
    """The ranges asked of the server of files."""
    return [asked for server, method, asked, _ in hub.asked if (server, method) == ("files", "GET")]


def test_a_model_is_downloaded_checked_and_found_by_its_name(ramify: Ramify, hub: Hub) -> None:
    done = ramify("download", NAME)
    path = folder_of(MODEL) / MODEL.file
    assert (done.code, path.read_bytes(), transfers(hub)) == (0, CONTENT, [None])
    assert all(words in done.out for words in (str(path), f"gguf:{NAME}", "Llama 3.2 Community", "131,072"))
    with pytest.raises(ModelError, match="not in the format GGUF"):  # it is found, and is no model
        find_gguf(NAME)


def test_one_that_is_there_is_verified_without_the_hub(ramify: Ramify, hub: Hub) -> None:
    ramify("download", NAME)
    asked = len(hub.asked)
    assert "already here" in ramify("download", NAME).out
    assert len(hub.asked) == asked
    (folder_of(MODEL) / MODEL.file).write_bytes(b"damaged")
    damaged = ramify("download", NAME)
    assert damaged.code == 1
    assert "sha256" in damaged.err
    assert ramify("download", NAME).code == 0


def test_a_cut_connection_is_resumed_where_it_was_cut(ramify: Ramify, hub: Hub) -> None:
    hub.cuts = [1_000_000, 500_000]
    assert ramify("download", NAME).code == 0
    ranges = transfers(hub)
    assert (ranges[0], len(ranges)) == (None, 3)
    starts = [int(str(asked).removeprefix("bytes=").rstrip("-")) for asked in ranges[1:]]
    assert 0 < starts[0] <= 1_000_000
    assert starts[0] < starts[1] <= 1_500_000
    assert (folder_of(MODEL) / MODEL.file).read_bytes() == CONTENT


def test_another_run_resumes_what_an_earlier_one_left(ramify: Ramify, hub: Hub) -> None:
    hub.cuts = [1_000_000, 0, 0, 0, 0, 0]
    failed = ramify("download", NAME)
    assert (failed.code, failed.out) == (1, "")
    assert "run it again: it resumes" in failed.err
    hub.asked.clear()
    assert ramify("download", NAME).code == 0
    assert transfers(hub)[0] is not None
    assert (folder_of(MODEL) / MODEL.file).read_bytes() == CONTENT


def test_a_server_without_ranges_sends_it_anew(ramify: Ramify, hub: Hub) -> None:
    hub.ranges, hub.cuts = False, [1_000_000]
    assert ramify("download", NAME).code == 0
    assert (folder_of(MODEL) / MODEL.file).read_bytes() == CONTENT


def test_a_wrong_hash_is_refused_and_nothing_is_kept(ramify: Ramify, hub: Hub) -> None:
    hub.sha256 = "0" * 64
    done = ramify("download", NAME)
    assert (done.code, done.out) == (1, "")
    assert hashlib.sha256(CONTENT).hexdigest() in done.err
    assert list(folder_of(MODEL).iterdir()) == []


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_hub_that_refuses_is_one_line(ramify: Ramify, hub: Hub, status: int) -> None:
    hub.status = status
    done = ramify("download", NAME)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: ")
    assert "HF_ENDPOINT" in done.err


def test_metadata_without_a_hash_is_refused(ramify: Ramify, hub: Hub) -> None:
    hub.metadata, hub.status = False, 200
    done = ramify("download", NAME)
    assert done.code == 1
    assert transfers(hub) == []


def test_a_hub_that_cannot_be_reached_is_one_line(ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = ramify("download", NAME)
    assert done.code == 1
    assert "cannot be reached" in done.err


def test_a_token_goes_to_the_hub_alone_and_into_no_log(
    ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with caplog.at_level(logging.DEBUG):
        done = ramify("download", NAME)
    given = {server: {authorization for one, _, _, authorization in hub.asked if one == server} for server in ("hub", "files")}
    assert given == {"hub": {f"Bearer {TOKEN}"}, "files": {None}}
    assert not any(TOKEN in text for text in (done.out, done.err, caplog.text))


def test_one_that_is_not_downloaded_names_the_command(hub: Hub) -> None:
    with pytest.raises(ModelError, match=f"ramify download {NAME}"):
        find_gguf(NAME)


def test_the_help_names_every_model(ramify: Ramify) -> None:
    told = " ".join(ramify("download", "--help").out.split())
    assert all(name in told for name in HUB_MODELS)
