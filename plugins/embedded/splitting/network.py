"""The writer network: it generates questions from the encoder's states of a question, word by word, mostly copying the question's words.

A pointer network (Vinyals et al. 2015; with a vocabulary: See et al. 2017) over states of the packaged encoder, which is frozen. It reads
two of the encoder's lower layers, so that the reader can be retrained independently.
"""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

SOURCE_LAYERS: Final = (3, 6)
"""Layers of the encoder whose states are the input."""
ENCODER_WIDTH: Final = 384
WIDTH: Final = 256
HEADS: Final = 8
ENCODER_LAYERS: Final = 2
DECODER_LAYERS: Final = 3
MAX_OUTPUT_WORDS: Final = 96
"""Most words of output."""
MAX_SOURCE_WORDS: Final = 288
"""Most words of a source with distinct positions."""

KeyValues = list[tuple[Tensor, Tensor]]
"""Keys and values of each decoder layer, each (texts, HEADS, words, WIDTH // HEADS)."""


@dataclass(frozen=True)
class EncodedSource:
    """The encoded source: states of its words, (texts, words, WIDTH), and their mask, (texts, words)."""

    states: Tensor
    mask: Tensor


class Attention(nn.Module):
    """Multi-head attention."""

    def __init__(self) -> None:
        super().__init__()
        self.ask, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def heads(self, states: Tensor) -> Tensor:
        """Split states into heads: (texts, HEADS, words, WIDTH // HEADS)."""
        return states.reshape(*states.shape[:-1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def keys_values(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values, each (texts, HEADS, words, WIDTH // HEADS)."""
        return self.heads(self.key(states)), self.heads(self.value(states))

    def forward(self, states: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None = None, causal: bool = False) -> Tensor:
        """Attend to keys and values; `mask`: which may be attended to."""
        read = scaled_dot_product_attention(self.heads(self.ask(states)), *keys_values, attn_mask=mask, is_causal=causal)
        attended: Tensor = self.out(read.transpose(1, 2).flatten(-2))
        return attended


class Layer(nn.Module):
    """A pre-norm transformer layer; one that writes (a decoder layer) also attends to the source."""

    def __init__(self, writes: bool) -> None:
        super().__init__()
        self.own, self.source = Attention(), Attention() if writes else None
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3 if writes else 2))
        self.think = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def encode(self, states: Tensor, mask: Tensor) -> Tensor:
        """Apply self-attention to the words of a source; mask: (texts, words)."""
        normal = self.norms[0](states)
        states = states + self.own(normal, self.own.keys_values(normal), mask[:, None, None, :])
        output: Tensor = states + self.think(self.norms[1](states))
        return output

    def decode(
        self, states: Tensor, source: tuple[Tensor, Tensor], mask: Tensor, before: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Apply causal self-attention and attention to the source; return the states, and keys and values including earlier words."""
        assert self.source is not None
        normal = self.norms[0](states)
        keys_values = self.own.keys_values(normal)
        if before is not None:
            keys_values = (torch.cat((before[0], keys_values[0]), dim=2), torch.cat((before[1], keys_values[1]), dim=2))
        states = states + self.own(normal, keys_values, causal=before is None)
        states = states + self.source(self.norms[1](states), source, mask[:, None, None, :])
        return states + self.think(self.norms[2](states)), keys_values


class Writer(nn.Module):
    """Generate words of a small vocabulary and copies of the source's words."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.inward = nn.Linear(len(SOURCE_LAYERS) * ENCODER_WIDTH, WIDTH)
        self.part, self.stands = nn.Embedding(2, WIDTH), nn.Embedding(MAX_SOURCE_WORDS, WIDTH)
        self.reading = nn.ModuleList(Layer(writes=False) for _ in range(ENCODER_LAYERS))
        self.word = nn.Embedding(vocabulary, WIDTH)
        self.copied = nn.Linear(WIDTH, WIDTH)
        self.place = nn.Embedding(MAX_OUTPUT_WORDS, WIDTH)
        self.writing = nn.ModuleList(Layer(writes=True) for _ in range(DECODER_LAYERS))
        self.norm_read, self.norm = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.point = nn.Linear(WIDTH, WIDTH)
        self.go_on = nn.Linear(WIDTH, 1)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        for embedding in (self.part, self.stands, self.word, self.place):
            nn.init.normal_(embedding.weight, std=0.02)

    def encode_source(self, states: Tensor, parts: Tensor, mask: Tensor) -> EncodedSource:
        """Encode a source from states, (texts, words, encoder states), parts (0 history, 1 question) and mask, both (texts, words)."""
        places = torch.arange(states.shape[1], device=states.device).clamp_max(MAX_SOURCE_WORDS - 1)
        read = self.inward(states) + self.part(parts) + self.stands(places)
        for layer in self.reading:
            assert isinstance(layer, Layer)
            read = layer.encode(read, mask)
        return EncodedSource(self.norm_read(read), mask)

    def keys_values(self, source: EncodedSource) -> KeyValues:
        """Return the source's keys and values for every decoder layer."""
        return [layer.source.keys_values(source.states) for layer in self.writing]  # type: ignore[union-attr,operator]  # all of them write

    def forward(
        self, tokens: Tensor, source: EncodedSource, read: KeyValues | None = None, before: KeyValues | None = None
    ) -> tuple[Tensor, KeyValues]:
        """Return the scores of the next token, (texts, tokens, vocabulary + words of the source), and keys and values so far."""
        read = read if read is not None else self.keys_values(source)
        # Words of the vocabulary, then by number the words of the source.
        taken = source.states.gather(1, (tokens - self.vocabulary).clamp_min(0)[..., None].expand(-1, -1, WIDTH))
        copies = (tokens >= self.vocabulary)[..., None]
        words = torch.where(copies, self.copied(taken), self.word(tokens.masked_fill(copies[..., 0], 0)))
        first = before[0][0].shape[2] if before else 0
        states = words + self.place(torch.arange(first, first + tokens.shape[1], device=tokens.device))
        keys_values: KeyValues = []
        for number, layer in enumerate(self.writing):
            assert isinstance(layer, Layer)
            states, seen = layer.decode(states, read[number], source.mask, before[number] if before else None)
            keys_values.append(seen)
        states = self.norm(states)
        plain = states @ self.word.weight.T + self.bias
        # The word behind the one just copied: what is copied goes on there more often than not.
        places = torch.arange(source.states.shape[1], device=tokens.device)
        behind = ((tokens - self.vocabulary + 1)[..., None] == places) & copies
        pointed = (self.point(states) @ source.states.transpose(1, 2)) / WIDTH**0.5 + self.go_on(states) * behind
        pointed = pointed.masked_fill(~source.mask[:, None, :], torch.finfo(pointed.dtype).min)
        return torch.cat((plain, pointed), dim=-1), keys_values
