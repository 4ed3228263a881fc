"""The writer: it reads what the encoder makes of a question and writes others, word by word, mostly copying the question's own words.

A pointer network (Vinyals et al. 2015; copying beside a vocabulary: See et al. 2017) over the states of the packaged encoder, which stay
as they are: two of its layers are read, so that what reads passages can be trained anew without this.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

READ_LAYERS: Final = (3, 6)
"""Layers of the encoder whose states are read."""
ENCODER_WIDTH: Final = 384
WIDTH: Final = 256
HEADS: Final = 8
ENCODING: Final = 2
WRITING: Final = 3
LONGEST: Final = 96
"""Words that are written at most."""
PLACES: Final = 288
"""Words of a source."""

Kept = list[tuple[Tensor, Tensor]]
"""Keys and values of what has been written, a pair a layer."""


@dataclass(frozen=True)
class Source:
    """What is copied from: the states of its words, (texts, words, width), and which of them are there, (texts, words)."""

    states: Tensor
    there: Tensor


class Attention(nn.Module):
    """Attend with several heads."""

    def __init__(self) -> None:
        super().__init__()
        self.ask, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def heads(self, states: Tensor) -> Tensor:
        """Split states into heads: (texts, heads, words, width of a head)."""
        return states.reshape(*states.shape[:-1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def kept(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values."""
        return self.heads(self.key(states)), self.heads(self.value(states))

    def forward(self, states: Tensor, kept: tuple[Tensor, Tensor], mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """Read keys and values; `mask` says what may be read."""
        read = scaled_dot_product_attention(self.heads(self.ask(states)), *kept, attn_mask=mask, is_causal=causal)
        attended: Tensor = self.out(read.transpose(1, 2).flatten(-2))
        return attended


class Layer(nn.Module):
    """A transformer layer that normalises first; one that writes also reads the source."""

    def __init__(self, writes: bool) -> None:
        super().__init__()
        self.own, self.source = Attention(), Attention() if writes else None
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3 if writes else 2))
        self.think = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def read(self, states: Tensor, there: Tensor) -> Tensor:
        """Let every word of a source see the others."""
        normal = self.norms[0](states)
        states = states + self.own(normal, self.own.kept(normal), there[:, None, None, :])
        output: Tensor = states + self.think(self.norms[1](states))
        return output

    def write(
        self, states: Tensor, source: tuple[Tensor, Tensor], there: Tensor, before: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Let words that are written see what was written before them, and the source; give also the keys and values so far."""
        assert self.source is not None
        normal = self.norms[0](states)
        kept = self.own.kept(normal)
        if before is not None:
            kept = (torch.cat((before[0], kept[0]), dim=2), torch.cat((before[1], kept[1]), dim=2))
        states = states + self.own(normal, kept, causal=before is None)
        states = states + self.source(self.norms[1](states), source, there[:, None, None, :])
        return states + self.think(self.norms[2](states)), kept


class Writer(nn.Module):
    """Write words of a small vocabulary and copy those of a source."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.inward = nn.Linear(len(READ_LAYERS) * ENCODER_WIDTH, WIDTH)
        self.part, self.stands = nn.Embedding(2, WIDTH), nn.Embedding(PLACES, WIDTH)
        self.reading = nn.ModuleList(Layer(writes=False) for _ in range(ENCODING))
        self.word = nn.Embedding(vocabulary, WIDTH)
        self.copied = nn.Linear(WIDTH, WIDTH)
        self.place = nn.Embedding(LONGEST, WIDTH)
        self.writing = nn.ModuleList(Layer(writes=True) for _ in range(WRITING))
        self.norm_read, self.norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.point = nn.Linear(WIDTH, WIDTH)
        self.go_on = nn.Linear(WIDTH, 1)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        for embedding in (self.part, self.stands, self.word, self.place):
            nn.init.normal_(embedding.weight, std=0.02)

    def source(self, states: Tensor, parts: Tensor, there: Tensor) -> Source:
        """Read a source: the encoder's states of its words, which part each is of (0 what was said before, 1 the question)."""
        places = torch.arange(states.shape[1], device=states.device).clamp_max(PLACES - 1)
        read = self.inward(states) + self.part(parts) + self.stands(places)
        for layer in self.reading:
            assert isinstance(layer, Layer)
            read = layer.read(read, there)
        return Source(self.norm_read(read), there)

    def kept(self, source: Source) -> Kept:
        """Return the source's keys and values for every layer that writes."""
        return [layer.source.kept(source.states) for layer in self.writing]  # type: ignore[union-attr,operator]  # all of them write

    def forward(self, tokens: Tensor, source: Source, read: Kept | None = None, before: Kept | None = None) -> tuple[Tensor, Kept]:
        """Return scores of what follows each token, (texts, tokens, vocabulary + words of the source), and keys and values so far."""
        read = read if read is not None else self.kept(source)
        # Words of the vocabulary, then by number the words of the source.
        taken = source.states.gather(1, (tokens - self.vocabulary).clamp_min(0)[..., None].expand(-1, -1, WIDTH))
        copies = (tokens >= self.vocabulary)[..., None]
        words = torch.where(copies, self.copied(taken), self.word(tokens.masked_fill(copies[..., 0], 0)))
        first = before[0][0].shape[2] if before else 0
        states = words + self.place(torch.arange(first, first + tokens.shape[1], device=tokens.device))
        kept: Kept = []
        for number, layer in enumerate(self.writing):
            assert isinstance(layer, Layer)
            states, seen = layer.write(states, read[number], source.there, before[number] if before else None)
            kept.append(seen)
        states = self.norm(states)
        plain = states @ self.word.weight.T + self.bias
        # The word behind the one just copied: what is copied goes on there more often than not.
        places = torch.arange(source.states.shape[1], device=tokens.device)
        behind = ((tokens - self.vocabulary + 1)[..., None] == places) & copies
        pointed = (self.point(states) @ source.states.transpose(1, 2)) / WIDTH**0.5 + self.go_on(states) * behind
        pointed = pointed.masked_fill(~source.there[:, None, :], torch.finfo(pointed.dtype).min)
        return torch.cat((plain, pointed), dim=-1), kept
