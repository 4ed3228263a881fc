"""Weights verified by their sha256, and quantized to 8 bits."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

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
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise ModelError(f"{owner}'s weights have sha256 {digest!r}, not {sha256!r}", remedy)
    return weights


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
