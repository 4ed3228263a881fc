"""Small instruct models in the format GGUF from public repositories of the Hugging Face hub: which there are, and their download.

A download resumes where it was cut off, and is checked against the sha256 and the size that the hub gives for the file.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ramify.tools.errors import ModelError
from ramify.tools.index.progress import Progress, silent
from ramify.tools.new_files import cache_folder, make_file, make_folder, remedy_for, sync
from ramify.tools.scrub import learn

if TYPE_CHECKING:
    from httpx import Client, Response


class HubModel(NamedTuple):
    """A model's file in a repository that anybody may read."""

    name: str
    repository: str
    file: str
    licence: str
    window: int
    """Tokens that it was trained for."""


_MODELS = (
    HubModel("llama3.2-3b", "bartowski/Llama-3.2-3B-Instruct-GGUF", "Llama-3.2-3B-Instruct-Q4_K_M.gguf", "Llama 3.2 Community", 131_072),
    HubModel("llama3.2-1b", "bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M.gguf", "Llama 3.2 Community", 131_072),
    HubModel("qwen2.5-1.5b", "Qwen/Qwen2.5-1.5B-Instruct-GGUF", "qwen2.5-1.5b-instruct-q4_k_m.gguf", "Apache-2.0", 32_768),
    HubModel("smollm2-1.7b", "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF", "smollm2-1.7b-instruct-q4_k_m.gguf", "Apache-2.0", 8_192),
)
HUB_MODELS: Mapping[str, HubModel] = MappingProxyType({model.name: model for model in _MODELS})

_MB = 1_000_000
_TIMEOUT_S = 30.0
_ATTEMPTS = 5
"""Times that a transfer is begun anew without a byte more."""
_SHA256 = 64
"""Digits of a sha256 in hexadecimal."""
_MIRROR = "connect to the network, or set HF_ENDPOINT to a mirror of the hub"


class Remote(NamedTuple):
    """A file as the hub describes it."""

    url: str
    sha256: str
    size: int


def folder_of(model: HubModel) -> Path:
    """Return the folder that a model's file is kept in: in the cache folder (RAMIFY_CACHE), under `models`."""
    return cache_folder() / "models" / model.name


def downloaded_path(name: str) -> Path:
    """Return the path of a downloaded model's file, its hash unchecked; ModelError where it is not there."""
    model = HUB_MODELS[name]
    path = folder_of(model) / model.file
    if not path.is_file():
        raise ModelError(f"the model {name!r} is not downloaded", f"run `ramify download {name}`")
    return path


def download(model: HubModel, progress: Progress = silent) -> tuple[Path, bool]:
    """Return the path of a model's file, downloaded if it is not there, and whether it was; its hash is checked either way.

    ModelError where the hub cannot be reached, the file is another than the hub describes, or the disk is full.
    """
    folder = folder_of(model)
    path, record = folder / model.file, folder / f"{model.file}.sha256"
    if path.is_file() and record.is_file():
        _check(path, record.read_text(encoding="ascii").strip(), model)
        return path, False
    token = _token()
    remote = describe(model, token)
    make_folder(folder)
    part = folder / f"{remote.sha256}.part"  # of another version nothing is gone on with
    for other in folder.glob("*.part"):
        if other != part:
            other.unlink()
    try:
        make_file(part)
        _transfer(remote, part, token, progress)
        _check(part, remote.sha256, model)
        sync(part)
        record.write_text(f"{remote.sha256}\n", encoding="ascii")
        part.replace(path)
    except OSError as error:
        remedy = remedy_for(error, "make room, or set RAMIFY_CACHE to a folder where you may write; then run it again: it resumes")
        raise ModelError(f"{str(part)!r} cannot be written ({error.strerror or error})", remedy) from error
    return path, True


def describe(model: HubModel, token: str | None = None) -> Remote:
    """Ask the hub for the address, sha256 and size of a model's file; ModelError where it does not give them."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    endpoint = _endpoint()
    url = hf_hub_url(model.repository, model.file, endpoint=endpoint)
    with _explained(model):
        found = get_hf_file_metadata(url, token=token or False, timeout=_TIMEOUT_S, endpoint=endpoint)
    sha256 = (found.etag or "").lower()
    if len(sha256) != _SHA256 or set(sha256) - set("0123456789abcdef") or not found.size:
        what = f"the hub gives no sha256 and size for {model.file!r} of {model.repository!r}"
        raise ModelError(what, "unset HF_ENDPOINT, or set it to a mirror that passes on what the hub says of a file")
    return Remote(url, sha256, found.size)


def _endpoint() -> str | None:
    """Return the address of a mirror; None for the hub itself."""
    return os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or None


def _token() -> str | None:
    """Return the user's token for the hub, which no message shows; these repositories need none, a mirror may."""
    from huggingface_hub import get_token

    token = get_token()
    if token:
        learn(token)
    return token


@contextmanager
def _explained(model: HubModel) -> Iterator[None]:
    """Turn what the hub's client raises into a ModelError, without addresses that are signed."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    where = f"{model.file!r} of {model.repository!r}"
    try:
        yield
    except OfflineModeIsEnabled as error:
        raise ModelError(f"{where} cannot be downloaded: HF_HUB_OFFLINE is set", "unset it") from error
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else "no"
        remedy = "set HF_ENDPOINT to a hub that has it, or download a .gguf file yourself and name it as gguf:PATH"
        raise ModelError(f"the hub does not give {where} (status {status})", remedy) from error
    except Exception as error:
        if not isinstance(error, OSError) and "httpx" not in type(error).__module__:  # of the client's library, whose name changes
            raise
        raise ModelError(f"the hub cannot be reached for {where} ({type(error).__name__})", _MIRROR) from error


def _transfer(remote: Remote, part: Path, token: str | None, progress: Progress) -> None:
    """Append what is missing to a file, and begin anew where a connection is cut; ModelError where it brings nothing more."""
    from httpx import Client, HTTPError

    headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
    failed = 0
    with Client(headers=headers, follow_redirects=True, timeout=_TIMEOUT_S) as client:  # a redirect to another host is given no token
        while (before := part.stat().st_size) < remote.size:
            why = "it sends nothing more"
            try:
                _receive(client, remote, part, progress)
            except HTTPError as error:
                why = type(error).__name__
            failed = 0 if part.stat().st_size > before else failed + 1
            if failed == _ATTEMPTS:
                what = f"the download of {_file(remote)!r} was cut off at {before:,} of {remote.size:,} bytes ({why})"
                raise ModelError(what, "run it again: it resumes there")


def _receive(client: "Client", remote: Remote, part: Path, progress: Progress) -> None:
    """Receive the rest of a file, or all of it from a server that gives no ranges."""
    there = part.stat().st_size
    with client.stream("GET", remote.url, headers={"Range": f"bytes={there}-"} if there else {}) as response:
        _check_status(response, remote)
        if response.status_code == 200:  # not what is missing, but all of it
            there = 0
        with part.open("r+b") as file:
            file.seek(there)
            file.truncate()
            for block in response.iter_bytes():  # as they come: what was received before a cut is kept
                if (there := there + len(block)) > remote.size:
                    raise ModelError(f"the hub sends more than the {remote.size:,} bytes that it names", "run it again, or set HF_ENDPOINT")
                file.write(block)
                progress(there // _MB, remote.size // _MB, "MB")


def _check_status(response: "Response", remote: Remote) -> None:
    if response.status_code not in (200, 206):
        what = f"the hub does not give {_file(remote)!r} (status {response.status_code})"
        raise ModelError(what, "run it again: it resumes; or set HF_ENDPOINT to a mirror of the hub")


def _file(remote: Remote) -> str:
    return remote.url.rpartition("/")[2]


def _check(path: Path, sha256: str, model: HubModel) -> None:
    """Raise ModelError, and delete the file, where it has another hash."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        path.unlink()
        what = f"the file of {model.name!r} has sha256 {found!r}, not {sha256!r} as the hub says, and was deleted"
        raise ModelError(what, f"run `ramify download {model.name}` again; if that fails, too, set HF_ENDPOINT to another mirror")
