"""Low-rank changes to frozen layers (Hu et al. 2021): of each matrix, what is trained is the product of two thin ones."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from ramify.tools.reader.large import DOWN, UP, changed

_BASE = ".base."


class LowRank(nn.Module):
    """A linear layer that stays as it is, and a change of low rank, at first none."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, base.in_features).uniform_(-1, 1) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, states: Tensor) -> Tensor:
        """Return what the layer gives, and the change to it."""
        result: Tensor = self.base(states) + states @ self.down.T @ self.up.T
        return result


def make_low_rank(layers: nn.Module, rank: int) -> None:
    """Replace every linear layer in these layers; all else in them stays as it is."""
    layers.requires_grad_(False)
    linear = [(name, module) for name, module in layers.named_modules() if isinstance(module, nn.Linear)]
    for name, module in linear:
        parent, _, own = name.rpartition(".")
        layers.get_submodule(parent).add_module(own, LowRank(module, rank))


def merged(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights with their changes of low rank added."""
    whole = {name.replace(_BASE, "."): weight for name, weight in weights.items() if not name.endswith((DOWN, UP))}
    return whole | changed(whole, weights)
