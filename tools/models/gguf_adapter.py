"""A LoRA adapter for a model that runs in this process: found beside a downloaded model or named by its path, and part of the model's name.

An answer with an adapter is that of another model. So the adapter's hash stands in the model's name (`gguf:NAME+adapter-HASH`), by which
replies are cached, rows and tests are compared, and calibrations are found.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from ramify.tools.errors import ModelError
from ramify.tools.models.gguf_header import load_header
from ramify.tools.quoting import one_line, truncate_line
from ramify.tools.released import DOWNLOADS
from ramify.tools.user_input import expand_path

AUTO, OFF = "auto", "off"
"""The values of the setting `adapter` that are not the path of a file."""
NAME_FILE = "give the path of a LoRA adapter's .gguf file, or --set adapter=off"
ADAPTER_FILE = "adapter.gguf"
_MARK = "+adapter-"
_MARKED = re.compile(re.escape(_MARK) + r"([0-9a-f]{12})$")
_MAX_TITLE_CHARS = 60


@dataclass(frozen=True)
class Adapter:
    """The file of an adapter that fits to a model by its header."""

    path: Path
    changed: int
    """When the file was last modified, in nanoseconds."""
    digest: str
    """The first twelve digits of the file's sha256."""
    title: str
    """Its own name; that of its file if it has none."""

    @property
    def suffix(self) -> str:
        """Return what it adds to a model's name."""
        return _MARK + self.digest

    def __str__(self) -> str:
        """Return its name and path."""
        return f"the adapter {self.title!r} ({self.path})"


def is_path(adapter: str) -> bool:
    """Return whether a value of the setting `adapter` is the path of a file."""
    return adapter.strip() not in (AUTO, OFF)


def split_adapter(name: str) -> tuple[str, str]:
    """Return a model's name without its adapter, and the adapter's hash, "" without one."""
    found = _MARKED.search(name)
    return (name[: found.start()], found[1]) if found else (name, "")


def find_adapter(adapter: str, model: str, architecture: str) -> Adapter | None:
    """Return the adapter for a model, as the setting says; None without one; blocking.

    model: the name of a download, or a path. ModelError for a file that is no LoRA adapter for a model of this architecture.
    """
    if is_path(adapter):
        return _read(expand_path(adapter.strip()).resolve(), adapter, architecture)
    beside = find_beside(model) if adapter.strip() == AUTO else None
    return _read(beside, str(beside), architecture) if beside else None


def find_beside(model: str) -> Path | None:
    """Return the path of the adapter in the folder of a download; None if there is none, or the model is not named as a download."""
    path = DOWNLOADS[model].folder / ADAPTER_FILE if model in DOWNLOADS else None
    return path if path and path.is_file() else None


def _read(path: Path, name: str, architecture: str) -> Adapter:
    header = load_header(path, name, NAME_FILE)
    kind = header.pairs.get("adapter.type") if header.kind == "adapter" else None
    if kind != "lora":
        what = f"the file of kind {header.kind!r}" if kind is None else f"the adapter of type {kind!r}"
        raise ModelError(f"{name!r} is not a LoRA adapter, but {what}", NAME_FILE)
    if header.architecture != architecture:
        what = f"the adapter {name!r} is for models of architecture {header.architecture!r}, and this one is of {architecture!r}"
        raise ModelError(what, "use an adapter that was trained for this model, or --set adapter=off")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    title = truncate_line(one_line(header.pairs.get("general.name") or path.name), _MAX_TITLE_CHARS)
    return Adapter(path, path.stat().st_mtime_ns, digest, title)
