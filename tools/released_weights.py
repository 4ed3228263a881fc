"""The weights that ship with the package: verified by their hash, and packed into a byte each."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

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
