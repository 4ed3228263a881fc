"""Examples as rows of tokens: several examples fill a row, and none attends to another."""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import torch
from torch import Tensor

OPEN_ROWS = 16
"""Rows that wait for an example that fits."""


class Example(TypedDict):
    """A line of a file of examples: what the model is sent, and the reply that it shall write."""

    prompt: str
    source: str
    messages: list[dict[str, str]]
    reply: str


class Pair(TypedDict):
    """A line of a file of pairs: what the model is sent, the better and the worse reply."""

    messages: list[dict[str, str]]
    chosen: str
    rejected: str


@dataclass(frozen=True)
class Tokens:
    """An example's tokens, and how many of them, at its end, are the reply."""

    ids: list[int]
    replied: int


def read_examples(path: Path) -> list[Example]:
    """Return the examples of a file of JSON lines."""
    return _read_lines(path)


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file of JSON lines."""
    return _read_lines(path)


def _read_lines(path: Path) -> list[Any]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def encode(tokenizer: Any, example: Example) -> Tokens:
    """Return an example's tokens; the reply's last one ends the turn."""
    return _encode(tokenizer, example["messages"], example["reply"])


def encode_pair(tokenizer: Any, pair: Pair) -> list[Tokens]:
    """Return the tokens of a pair with the chosen and with the rejected reply."""
    return [_encode(tokenizer, pair["messages"], reply) for reply in (pair["chosen"], pair["rejected"])]


def _encode(tokenizer: Any, messages: list[dict[str, str]], reply: str) -> Tokens:
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
    written = [*tokenizer(reply, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    return Tokens([*prompt, *written], len(written))


def pack(examples: Iterable[Tokens], length: int) -> list[list[Tokens]]:
    """Return rows of examples of at most `length` tokens; an example goes into the first open row that has room."""
    done: list[list[Tokens]] = []
    opened: list[tuple[int, list[Tokens]]] = []
    for example in examples:
        size = len(example.ids)
        place = next((number for number, (free, _) in enumerate(opened) if free >= size), None)
        free, row = opened.pop(place) if place is not None else (length, [])
        row.append(example)
        opened.append((free - size, row))
        if len(opened) > OPEN_ROWS:
            fullest = min(opened, key=lambda pair: pair[0])
            opened.remove(fullest)
            done.append(fullest[1])
    return done + [row for _, row in opened]


def plan_pairs(pairs: Sequence[list[Tokens]], epochs: int, seed: int) -> list[list[Tokens]]:
    """Return the pairs of all epochs, each pair a row, each epoch in an order of its own."""
    return [pair for epoch in range(epochs) for pair in random.Random(f"{seed}/{epoch}").sample(pairs, len(pairs))]


def plan_rows(examples: Sequence[Tokens], length: int, epochs: int, seed: int) -> list[list[Tokens]]:
    """Return the rows of all epochs, each in an order of its own."""
    rows: list[list[Tokens]] = []
    for epoch in range(epochs):
        draw = random.Random(f"{seed}/{epoch}")
        packed = pack(draw.sample(examples, len(examples)), length)
        draw.shuffle(packed)
        rows += packed
    return rows


@dataclass(frozen=True)
class Row:
    """A row as the network takes it, and which of its states predict which tokens of replies."""

    ids: Tensor
    positions: Tensor
    mask: Tensor
    """0 where a token attends to another, else the lowest number of the type."""
    states: Tensor
    targets: Tensor


def collate(row: Sequence[Tokens], dtype: torch.dtype, device: torch.device) -> Row:
    """Return a row's tensors; the mask, the largest, is made on the device."""
    ids = torch.tensor([token for example in row for token in example.ids])
    sizes = torch.tensor([len(example.ids) for example in row])
    ends = sizes.cumsum(0)
    of = torch.repeat_interleave(torch.arange(len(row)), sizes).to(device)
    positions = torch.arange(len(ids)) - torch.repeat_interleave(ends - sizes, sizes)
    seen = (of[:, None] == of[None, :]).tril()
    mask = torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill(~seen, torch.finfo(dtype).min)
    targets = torch.cat([torch.arange(int(end) - example.replied, int(end)) for end, example in zip(ends, row, strict=True)])
    made = (ids[None], positions[None], mask[None, None], targets - 1, ids[targets])
    return Row(*(tensor.to(device) for tensor in made))
