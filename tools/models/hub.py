"""Download small instruct models in GGUF format from public repositories of the Hugging Face hub.

An interrupted download resumes. Size and sha256 are verified against the values in this file, not those of the hub or a mirror.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ramify.tools.errors import ModelError, UsageError
from ramify.tools.index.progress import Progress, ignore_progress
from ramify.tools.new_files import cache_folder, make_file, make_folder, sync, write_error_remedy
from ramify.tools.scrub import mask_address, register_secrets
from ramify.tools.server_address import DEFAULT_PORTS, is_loopback, is_server_address

if TYPE_CHECKING:
    from httpx import Client, Request, Response


class HubModel(NamedTuple):
    """A model file in a public repository."""

    name: str
    repository: str
    file: str
    licence: str
    window: int
    """Context length in tokens."""
    size: int
    sha256: str

    @property
    def folder(self) -> Path:
        """Return the folder of its file: `models/NAME` in the cache folder (RAMIFY_CACHE)."""
        return cache_folder() / "models" / self.name

    def path(self) -> Path:
        """Return the path of its downloaded file, its hash not verified; ModelError if it is not downloaded."""
        path = self.folder / self.file
        if not path.is_file():
            raise ModelError(f"the model {self.name!r} is not downloaded", f"run `ramify download {self.name}`")
        return path


_MODELS = (
    HubModel(
        "llama3.2-3b", "bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf", "Llama 3.2 Community", 131_072,
        2_019_377_696, "6c1a2b41161032677be168d354123594c0e6e67d2b9227c84f296ad037c728ff",
    ),
    HubModel(
        "llama3.2-1b", "bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Llama 3.2 Community", 131_072,
        807_694_464, "6f85a640a97cf2bf5b8e764087b1e83da0fdb51d7c9fab7d0fece9385611df83",
    ),
    HubModel(
        "qwen2.5-1.5b", "Qwen/Qwen2.5-1.5B-Instruct-GGUF", "qwen2.5-1.5b-instruct-q4_k_m.gguf", "Apache-2.0", 32_768,
        1_117_320_736, "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
    ),
    HubModel(
        "smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf", "Apache-2.0", 8_192,
        1_055_609_536, "decd2598bc2c8ed08c19adc3c8fdd461ee19ed5708679d1c54ef54a5a30d4f33",
    ),
)  # fmt: skip
HUB_MODELS: Mapping[str, HubModel] = MappingProxyType({model.name: model for model in _MODELS})

HUB = "https://huggingface.co"
"""The only server that gets the user's token."""
_MB = 1_000_000
_TIMEOUT_S = 30.0
_ATTEMPTS = 5
"""Restarts of a transfer without progress."""
_REDIRECTS = 5
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_RESUME_REMEDY = "run it again: it resumes; or name a mirror of the hub with --mirror"


def download_model(model: HubModel, progress: Progress = ignore_progress, mirror: str | None = None) -> tuple[Path, bool]:
    """Return the path of a model's file, and whether it was downloaded now; its hash is verified in either case.

    mirror: the address of a mirror of the hub; by default HF_ENDPOINT, else the hub itself. UsageError if it is not https.
    ModelError if it cannot be reached, the file differs from the expected one, or the disk is full.
    """
    folder = model.folder
    path, part = folder / model.file, folder / f"{model.sha256}.part"
    if path.is_file():
        _check_sha256(path, model)
        return path, False
    url = _download_url(model, mirror)
    make_folder(folder)
    for other in folder.glob("*.part"):
        if other != part or other.stat().st_size > model.size:  # of another file or damaged
            other.unlink()
    try:
        make_file(part)
        _transfer(model, url, part, progress)
        _check_sha256(part, model)
        sync(part)
        part.replace(path)
    except OSError as error:
        remedy = write_error_remedy(error, "make room, or set RAMIFY_CACHE to a folder where you may write; then run it again: it resumes")
        raise ModelError(f"{str(part)!r} cannot be written ({error.strerror or error})", remedy) from error
    return path, True


def check_mirror(url: str) -> None:
    """Raise UsageError unless an address is https, or local."""
    if not is_server_address(url) or not (url.lower().startswith("https://") or is_loopback(url)):
        raise UsageError(f"the mirror {mask_address(url)!r} is not an https address", "write it as https://mirror.example")


def _download_url(model: HubModel, mirror: str | None) -> str:
    """Return the address of a model's file on the hub or a mirror."""
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        raise ModelError(f"{model.file!r} cannot be downloaded: HF_HUB_OFFLINE is set", "unset it")
    endpoint = (mirror or os.environ.get("HF_ENDPOINT", "").strip() or HUB).rstrip("/")
    check_mirror(endpoint)
    return hf_hub_url(model.repository, model.file, endpoint=endpoint)


def _transfer(model: HubModel, url: str, part: Path, progress: Progress) -> None:
    """Append the missing bytes to a file, reconnecting when a connection is lost; ModelError after several attempts without progress."""
    from httpx import Client, ConnectError, HTTPError
    from huggingface_hub import get_token

    if token := get_token() if _origin(url) == _origin(HUB) else None:
        register_secrets(token)
    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    failed = 0
    hooks = {"request": [_https_check(url)]}
    # On a redirect to another origin, the client removes the token.
    with Client(headers=headers, follow_redirects=True, max_redirects=_REDIRECTS, timeout=_TIMEOUT_S, event_hooks=hooks) as client:
        while (before := part.stat().st_size) < model.size:
            why = "it sends no more data"
            try:
                _receive(client, model, url, part, progress)
            except HTTPError as error:
                why = "the server cannot be reached" if isinstance(error, ConnectError) else type(error).__name__
            failed = 0 if part.stat().st_size > before else failed + 1
            if failed == _ATTEMPTS:
                what = f"the download of {model.file!r} was cut off at {before:,} of {model.size:,} bytes ({why})"
                raise ModelError(what, _RESUME_REMEDY)


def _origin(url: str) -> tuple[str, str | None, int]:
    """Return the scheme, host and port of a server's address."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme]


def _https_check(start: str) -> "Callable[[Request], None]":
    """Return a hook that checks each request: redirects may lead to https servers, or stay on this machine."""

    def check(request: "Request") -> None:
        url = str(request.url)
        if request.url.scheme != "https" and not (is_loopback(start) and is_loopback(url)):
            what = f"{mask_address(start)!r} leads to an address that is not https, at {request.url.host!r}"
            raise ModelError(what, "name another mirror with --mirror, or download a .gguf file yourself and name it as gguf:PATH")

    return check


def _receive(client: "Client", model: HubModel, url: str, part: Path, progress: Progress) -> None:
    """Receive the rest of a file, or all of it if the server does not support ranges."""
    there = part.stat().st_size
    with client.stream("GET", url, headers={"Range": f"bytes={there}-"} if there else {}) as response:
        there = _first_byte(response, model, there)
        with part.open("r+b") as file:
            file.seek(there)
            file.truncate()
            for block in response.iter_raw():  # written as received, so that an interrupted download resumes
                if (there := there + len(block)) > model.size:
                    raise ModelError(f"the server sends more than the {model.size:,} bytes of {model.file!r}", _RESUME_REMEDY)
                file.write(block)
                progress(there // _MB, model.size // _MB, "MB")


def _first_byte(response: "Response", model: HubModel, asked: int) -> int:
    """Return the offset at which a response begins; ModelError unless it is the requested one and the file has the expected size."""
    if response.status_code not in (200, 206):
        remedy = f"{_RESUME_REMEDY}; or download a .gguf file yourself and name it as gguf:PATH"
        raise ModelError(f"the server does not provide {model.file!r} (status {response.status_code})", remedy)
    if response.status_code == 200:  # all of it
        first, size = 0, response.headers.get("Content-Length")
    elif given := _RANGE.fullmatch(response.headers.get("Content-Range", "")):
        first, size = int(given[1]), given[2]
    else:
        first, size = -1, None
    if first not in (0, asked) or (size is not None and size != str(model.size)):
        what = f"the server sends {model.file!r} from byte {first:,} of {size or 'unknown'}, not from {asked:,} of {model.size:,}"
        raise ModelError(what, _RESUME_REMEDY)
    return first


def _check_sha256(path: Path, model: HubModel) -> None:
    """Raise ModelError, and delete the file, if its hash differs."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        path.unlink()
        what = f"the file of {model.name!r} has sha256 {found!r}, not {model.sha256!r}, and was deleted"
        raise ModelError(what, f"run `ramify download {model.name}` again; if that fails, too, name a mirror with --mirror")
