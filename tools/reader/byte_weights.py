"""Weights in a byte each: every row of a matrix with a scale of its own, and back."""

from collections.abc import Mapping

import torch
from torch import Tensor

_SCALE = "/scale"
_LEVELS = 127


def pack(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round matrices to 8 bits a weight; vectors are kept in 32 bits, they are small."""
    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim != 2:
            packed[name] = weight.float().contiguous()
            continue
        scale = weight.float().abs().amax(dim=1, keepdim=True).clamp_min(1e-8) / _LEVELS
        packed[name] = (weight.float() / scale).round().to(torch.int8)
        packed[name + _SCALE] = scale
    return packed


def unpack(packed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give the weights back in 32 bits."""
    return {
        name: weight.float() * packed[name + _SCALE] if name + _SCALE in packed else weight
        for name, weight in packed.items()
        if not name.endswith(_SCALE)
    }
