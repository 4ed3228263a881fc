"""The layers of BERT (Devlin et al. 2019) on torch alone, with the parameter names of published checkpoints.

With `buckets`, those of MPNet (Song et al. 2020), whose attention has a bias by the distance of two word pieces.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention


@dataclass(frozen=True)
class Shape:
    """The sizes of a model; by default those of all-MiniLM-L6-v2."""

    width: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    vocabulary: int = 30522
    positions: int = 512
    types: int = 2
    epsilon: float = 1e-12
    buckets: int = 0
    """Number of distance buckets of the attention bias; 0 in BERT."""


class _Embedding(nn.Embedding):
    def reset_parameters(self) -> None:
        """Skip the initialization of "meta" tensors, which would import torch's compiler for seconds."""
        if self.weight.device.type != "meta":
            super().reset_parameters()


class _Embeddings(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.word_embeddings = _Embedding(shape.vocabulary, shape.width, padding_idx=0)
        self.position_embeddings = _Embedding(shape.positions, shape.width)
        self.token_type_embeddings = _Embedding(shape.types, shape.width)
        self.LayerNorm = nn.LayerNorm(shape.width, eps=shape.epsilon)

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: ids.shape[1]]
        normal: Tensor = self.LayerNorm(self.word_embeddings(ids) + self.token_type_embeddings(types) + places)
        return normal


class _SelfAttention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value = (nn.Linear(shape.width, shape.width) for _ in range(3))

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (layer(states).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.query, self.key, self.value))
        return scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2).flatten(-2)


class _Residual(nn.Module):
    """A linear layer with a residual connection and layer normalization."""

    def __init__(self, inputs: int, shape: Shape) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, shape.width)
        self.LayerNorm = nn.LayerNorm(shape.width, eps=shape.epsilon)

    def forward(self, states: Tensor, before: Tensor) -> Tensor:
        normal: Tensor = self.LayerNorm(self.dense(states) + before)
        return normal


class _Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = nn.ModuleDict({"self": _SelfAttention(shape), "output": _Residual(shape.width, shape)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(shape.width, shape.inner)})
        self.output = _Residual(shape.inner, shape)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        attended = self.attention["output"](self.attention["self"](states, mask), states)
        result: Tensor = self.output(gelu(self.intermediate["dense"](attended)), attended)
        return result


class Bert(nn.Module):
    """A BERT encoder of word pieces."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embeddings = _Embeddings(shape)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(shape) for _ in range(shape.layers))})
        if shape.buckets:
            self.encoder["relative_attention_bias"] = _Embedding(shape.buckets, shape.heads)

    @classmethod
    def from_weights(cls, weights: Mapping[str, Tensor], shape: Shape) -> Self:
        """Return a model with these weights, without a pooler and position ids."""
        with torch.device("meta"):  # avoids initializing weights that are replaced
            model = cls(shape)
        named = {name: weight for name, weight in weights.items() if not name.startswith("pooler.") and not name.endswith("position_ids")}
        model.load_state_dict(named, assign=True)
        return model.eval()

    @property
    def layers(self) -> nn.ModuleList:
        """The layers, from the lowest."""
        layers = self.encoder["layer"]
        assert isinstance(layers, nn.ModuleList)
        return layers

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.embeddings.LayerNorm.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The number type of the weights."""
        return self.embeddings.LayerNorm.weight.dtype

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> list[Tensor]:
        """Return the states of the embeddings and of each layer, shape (texts, pieces, width) each.

        ids, mask, types: shape (texts, pieces); mask: 1 for word pieces, 0 for padding.
        """
        states = [self.embeddings(ids, torch.zeros_like(ids) if types is None else types)]
        readable = None if bool(mask.all()) else mask.bool()[:, None, None, :]
        if self.shape.buckets:
            bias = self.encoder["relative_attention_bias"](distance_buckets(ids.shape[1], self.shape.buckets, ids.device)).permute(2, 0, 1)
            readable = bias[None] if readable is None else bias[None].masked_fill(~readable, -torch.inf)
        for layer in self.layers:
            states.append(layer(states[-1], readable))
        return states


def pad_batch(texts: Sequence[Sequence[int]], step: int = 1) -> tuple[Tensor, Tensor]:
    """Return ids padded to the longest text, or the next multiple of `step`, and the mask, both of shape (texts, pieces)."""
    length = -(-max(map(len, texts)) // step) * step
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, pieces in enumerate(texts):
        ids[row, : len(pieces)] = torch.tensor(pieces)
        mask[row, : len(pieces)] = 1
    return ids, mask


_MAX_DISTANCE = 128
"""Distance from which all pieces are in the last bucket."""


def distance_buckets(pieces: int, buckets: int, device: torch.device) -> Tensor:
    """Return the bucket of the distance of each two pieces, (pieces, pieces): half for each direction, half of those for single distances,
    the others growing by a factor (Raffel et al. 2020, section 2.1)."""
    places = torch.arange(pieces, device=device)
    behind = places[:, None] - places[None, :]
    half, single = buckets // 2, buckets // 4
    distance = behind.abs()
    logarithmic = torch.log(distance.clamp(min=single) / single) / math.log(_MAX_DISTANCE / single) * (half - single)
    return torch.where(distance < single, distance, (single + logarithmic.long()).clamp(max=half - 1)) + (behind < 0) * half
