"""ramify download of a model on the hub, tried with a small hub on loopback: its file lies on another server than its address."""

import hashlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ramify.tools.downloads import HUB, HubModel, _origin
from ramify.tools.errors import ModelError
from ramify.tools.models.gguf import find_gguf
from ramify.tools.released import DOWNLOADS
from tests.faults import fault
from tests.studio.conftest import Ramify

NAME = "llama3.2-3b"
CONTENT = bytes(range(256)) * 12_000
HUB_MODELS = {name: model for name, model in DOWNLOADS.items() if isinstance(model, HubModel)}
MODEL = replace(HUB_MODELS[NAME], size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
TOKEN = "hf_abcdefghijklmnopqrstuvwxyz012345"


class Hub:
    """The hub, the server of its files, and what they are to do."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.cuts: list[int] = []
        """Bytes after which a transfer is cut off, for one transfer after another."""
        self.ranges = True
        self.shift = 0
        """Bytes by which a range is another than was asked for."""
        self.named = True
        """Whether the server says how long the file is."""
        self.status = 302
        self.refuses = 0
        """The status of the server of files, if not that of a file or a range."""
        self.asked: list[tuple[str, str | None, str | None]] = []
        """Server, range and authorization of each request."""
        self._servers = [self._server("hub"), self._server("files")]
        self.leads_to = f"http://localhost:{self._servers[1].server_port}/blob?signed=secret"

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

            def do_GET(self) -> None:
                hub.asked.append((which, self.headers.get("Range"), self.headers.get("Authorization")))
                if which == "files":
                    hub.send(self)
                    return
                known = self.path == f"/{MODEL.repository}/resolve/main/{MODEL.file}"
                self.send_response(hub.status if known else 404)
                if hub.status == 302:
                    self.send_header("Location", hub.leads_to)
                self.send_header("Content-Length", "0")
                self.end_headers()

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def send(self, request: BaseHTTPRequestHandler) -> None:
        """Send the file or the range of it that is asked for, as far as it is not to be cut off."""
        asked = request.headers.get("Range") if self.ranges else None
        start = int(asked.removeprefix("bytes=").rstrip("-")) + self.shift if asked else 0
        body = self.content[start:]
        request.send_response(self.refuses or (206 if asked else 200))
        if asked:
            request.send_header("Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}")
        if self.named:
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
    monkeypatch.setitem(DOWNLOADS, NAME, MODEL)
    yield made
    made.close()


def downloaded_files() -> list[str]:
    """The endings of the files in the model's folder."""
    return [path.suffix for path in MODEL.folder.iterdir()]


def transfers(hub: Hub) -> list[str | None]:
    """The ranges asked of the server of files."""
    return [asked for server, asked, _ in hub.asked if server == "files"]


def test_a_model_is_downloaded_checked_and_found_by_its_name(ramify: Ramify, hub: Hub) -> None:
    done = ramify("download", NAME)
    path = MODEL.folder / MODEL.file
    assert (done.code, path.read_bytes(), transfers(hub)) == (0, CONTENT, [None])
    assert all(words in done.out for words in (str(path), f"gguf:{NAME}", "Llama 3.2 Community", "131,072"))
    with pytest.raises(ModelError, match="not a GGUF file"):  # it is found, and is no model
        find_gguf(NAME)


def test_one_that_is_there_is_verified_without_the_hub(ramify: Ramify, hub: Hub) -> None:
    ramify("download", NAME)
    asked = len(hub.asked)
    assert "already installed" in ramify("download", NAME).out
    assert len(hub.asked) == asked
    (MODEL.folder / MODEL.file).write_bytes(b"damaged")
    damaged = ramify("download", NAME)
    assert damaged.code == 1
    assert "sha256" in damaged.err
    assert ramify("download", NAME).code == 0


@fault(
    "downloads", "the connection is lost", sees="the model, downloaded; what was received is not asked for again", kept="what was received"
)
def test_a_cut_connection_is_resumed_where_it_was_cut(ramify: Ramify, hub: Hub) -> None:
    hub.cuts = [1_000_000, 500_000]
    assert ramify("download", NAME).code == 0
    ranges = transfers(hub)
    assert (ranges[0], len(ranges)) == (None, 3)
    starts = [int(str(asked).removeprefix("bytes=").rstrip("-")) for asked in ranges[1:]]
    assert 0 < starts[0] <= 1_000_000
    assert starts[0] < starts[1] <= 1_500_000
    assert (MODEL.folder / MODEL.file).read_bytes() == CONTENT


@fault(
    "downloads", "the connection is lost repeatedly", sees="the number of bytes received; run it again", kept="what was received", code=1
)
def test_another_run_resumes_what_an_earlier_one_left(ramify: Ramify, hub: Hub) -> None:
    hub.cuts = [1_000_000, 0, 0, 0, 0, 0]
    failed = ramify("download", NAME)
    assert (failed.code, failed.out) == (1, "")
    assert "run it again: it resumes" in failed.err
    hub.asked.clear()
    assert ramify("download", NAME).code == 0
    assert transfers(hub)[0] is not None
    assert (MODEL.folder / MODEL.file).read_bytes() == CONTENT


@fault("downloads", "a server that ignores the requested range", sees="the model, downloaded from the start", kept="the model")
def test_a_server_without_ranges_sends_it_anew(ramify: Ramify, hub: Hub) -> None:
    hub.ranges, hub.cuts = False, [1_000_000]
    assert ramify("download", NAME).code == 0
    assert (MODEL.folder / MODEL.file).read_bytes() == CONTENT


@fault("downloads", "a file with another hash", sees="both hashes; the file is deleted", kept="nothing", code=1)
def test_a_wrong_hash_is_rejected_and_nothing_is_stored(ramify: Ramify, hub: Hub) -> None:
    hub.content = CONTENT[::-1]
    done = ramify("download", NAME)
    assert (done.code, done.out) == (1, "")
    assert all(hashlib.sha256(content).hexdigest() in done.err for content in (CONTENT, hub.content))
    assert downloaded_files() == []


@fault("downloads", "a file that changed after an interruption", sees="both hashes; the file is deleted", kept="nothing", code=1)
def test_of_a_file_that_changed_meanwhile_no_half_is_taken(ramify: Ramify, hub: Hub) -> None:
    hub.cuts = [1_000_000, 0, 0, 0, 0, 0]
    ramify("download", NAME)
    assert downloaded_files() == [".part"]
    hub.content = CONTENT[::-1]
    assert ramify("download", NAME).code == 1
    assert downloaded_files() == []
    hub.content = CONTENT
    assert ramify("download", NAME).code == 0


@fault("downloads", "a partial file that was damaged on the disk", sees="both hashes; run it again", kept="nothing", code=1)
def test_a_damaged_half_is_found_by_the_whole_hash(ramify: Ramify, hub: Hub) -> None:
    hub.cuts = [1_000_000, 0, 0, 0, 0, 0]
    ramify("download", NAME)
    (part,) = MODEL.folder.iterdir()
    part.write_bytes(bytes(part.stat().st_size))
    assert ramify("download", NAME).code == 1
    assert ramify("download", NAME).code == 0


@fault("downloads", "another range than requested", sees="both positions in the file", kept="what was received", code=1)
def test_another_range_is_not_put_in_its_place(ramify: Ramify, hub: Hub) -> None:
    hub.cuts, hub.shift = [1_000_000], 7
    done = ramify("download", NAME)
    assert done.code == 1
    (part,) = MODEL.folder.iterdir()
    assert f"{part.stat().st_size + 7:,}" in done.err
    assert part.read_bytes() == CONTENT[: part.stat().st_size]


@fault("downloads", "a range without its position", sees="that the position is unknown", kept="what was received", code=1)
def test_a_range_that_does_not_say_which_is_refused(ramify: Ramify, hub: Hub) -> None:
    hub.refuses = 206  # also where all was asked for
    assert ramify("download", NAME).code == 1
    assert [path.stat().st_size for path in MODEL.folder.iterdir()] == [0]


@pytest.mark.parametrize("status", [401, 403, 404, 416, 500])
@fault(
    "downloads",
    "a server that refuses (401, 403, 404, 416, 500)",
    sees="the status; name a mirror",
    kept="what was received",
    code=1,
)
def test_a_server_that_refuses_is_one_line(ramify: Ramify, hub: Hub, status: int) -> None:
    hub.refuses, hub.cuts = status, [0]
    done = ramify("download", NAME)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: ")
    assert all(words in done.err for words in (str(status), "--mirror"))
    hub.refuses, hub.status = 0, status
    assert str(status) in ramify("download", NAME).err


@fault("downloads", "a file of another size", sees="both sizes", kept="the file is not read", code=1)
@pytest.mark.parametrize("content", [CONTENT + b"more", CONTENT[:-1]])
def test_a_file_of_another_size_is_not_read(ramify: Ramify, hub: Hub, content: bytes) -> None:
    hub.content = content
    done = ramify("download", NAME)
    assert done.code == 1
    assert f"{len(content)}" in done.err
    assert [path.stat().st_size for path in MODEL.folder.iterdir()] == [0]


@fault("downloads", "a file that does not end", sees="the expected size", kept="never more than its size", code=1)
def test_a_file_that_does_not_end_is_cut_at_its_size(ramify: Ramify, hub: Hub) -> None:
    hub.content, hub.named = CONTENT * 3, False
    done = ramify("download", NAME)
    assert done.code == 1
    assert f"{len(CONTENT):,}" in done.err
    assert all(path.stat().st_size <= len(CONTENT) for path in MODEL.folder.iterdir())


@fault("downloads", "a redirect to http", sees="the host that is not https", kept="nothing is asked there", code=1)
def test_a_redirect_out_of_https_is_refused(ramify: Ramify, hub: Hub) -> None:
    hub.leads_to = "http://files.example/blob?signed=secret"
    done = ramify("download", NAME)
    assert done.code == 1
    assert "files.example" in done.err
    assert "secret" not in done.err
    assert transfers(hub) == []


@fault("downloads", "cyclic redirects", sees="that nothing was received", kept="nothing", code=1)
def test_redirects_in_a_circle_end(ramify: Ramify, hub: Hub) -> None:
    hub.leads_to = f"{hub.url}/{MODEL.repository}/resolve/main/{MODEL.file}"
    assert ramify("download", NAME).code == 1
    assert len(hub.asked) < 50


@fault("downloads", "a mirror that is not https", sees="the address; write https", kept="nothing is asked there", code=2)
@pytest.mark.parametrize("name", [NAME, "smollm2", "e5-multilingual"])
def test_a_mirror_over_http_is_wrong_usage(ramify: Ramify, hub: Hub, name: str) -> None:
    done = ramify("download", name, "--mirror", "http://me:secret@mirror.example")
    assert (done.code, done.out, hub.asked) == (2, "", [])
    assert "mirror.example" in done.err
    assert "secret" not in done.err


def test_a_mirror_is_asked_in_place_of_the_hub(ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.example")  # is not looked at
    assert ramify("download", NAME, "--mirror", f"{hub.url}/").code == 0
    monkeypatch.delenv("RAMIFY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(MODEL.folder))
    assert ramify("download", NAME).code == 2


@fault("downloads", "a server that cannot be reached", sees="that it cannot be reached; name a mirror", kept="what was received", code=1)
def test_a_hub_that_cannot_be_reached_is_one_line(ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = ramify("download", NAME)
    assert done.code == 1
    assert "cannot be reached" in done.err


def authorizations(hub: Hub) -> dict[str, set[str | None]]:
    """The credentials that each server got."""
    return {server: {authorization for one, _, authorization in hub.asked if one == server} for server in ("hub", "files")}


def test_a_token_goes_to_the_hub_alone_and_into_no_log(
    ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr("ramify.tools.downloads.HUB", hub.url)
    monkeypatch.delenv("HF_ENDPOINT")
    with caplog.at_level(logging.DEBUG):
        done = ramify("download", NAME)
    assert done.code == 0, done.err
    assert authorizations(hub) == {"hub": {f"Bearer {TOKEN}"}, "files": {None}}
    assert not any(TOKEN in text for text in (done.out, done.err, caplog.text))


@pytest.mark.parametrize("way", ["variable", "option"])
@fault("downloads", "a mirror, and a token of the hub", sees="the model", kept="the token: the mirror gets none")
def test_a_mirror_gets_no_token(ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    if way == "option":
        monkeypatch.setenv("HF_ENDPOINT", "https://huggingface.co")
    assert ramify("download", NAME, *(["--mirror", hub.url] if way == "option" else [])).code == 0
    assert authorizations(hub) == {"hub": {None}, "files": {None}}


def test_credentials_of_a_mirror_go_to_it_and_not_to_where_it_redirects(
    ramify: Ramify, hub: Hub, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with caplog.at_level(logging.DEBUG):
        done = ramify("download", NAME, "--mirror", hub.url.replace("//", "//me:pass-of-mirror@"))
    assert done.code == 0, done.err
    assert authorizations(hub) == {"hub": {"Basic bWU6cGFzcy1vZi1taXJyb3I="}, "files": {None}}
    assert not any("pass-of-mirror" in text for text in (done.out, done.err))


@pytest.mark.parametrize(
    ("address", "is_hub"),
    [
        ("https://huggingface.co/a/resolve/main/b", True),
        ("HTTPS://HuggingFace.co:443/a", True),
        ("http://huggingface.co/a", False),
        ("https://huggingface.co:8443/a", False),
        ("https://huggingface.co.mirror.example/a", False),
        ("https://huggingface.co@mirror.example/a", False),
        ("https://mirror.example/huggingface.co", False),
        ("https://mirror.example#@huggingface.co", False),
        ("https://cdn.huggingface.co/a", False),
        ("https://hf.co/a", False),
    ],
)
def test_no_address_passes_for_the_hub(address: str, is_hub: bool) -> None:
    assert (_origin(address) == _origin(HUB)) == is_hub


def test_one_that_is_not_downloaded_names_the_command(hub: Hub) -> None:
    with pytest.raises(ModelError, match=f"ramify download {NAME}"):
        find_gguf(NAME)


def test_the_help_names_every_model(ramify: Ramify) -> None:
    told = " ".join(ramify("download", "--help").out.split())
    assert all(name in told for name in HUB_MODELS)
