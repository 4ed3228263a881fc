"""Encode examples for the network: word pieces, start and end of the answer, batches of similar size."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from plugins.embedded.training.example import Example
from ramify.embedded.reader.network import ANSWER_KINDS, Batch
from ramify.embedded.reader.reading import EncodedPair, collate_pairs, encode_pairs
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, Pretrained

_NO_LABEL = -1
_ENCODED_AT_ONCE = 1000
_MIN_LENGTH_RATIO = 0.5
_MAX_GROUP_SIZE = 16


@dataclass(frozen=True)
class EncodedExample:
    """An example with its word pieces; start and end are -1 without a span, kind and bears if unknown."""

    example: Example
    pair: EncodedPair
    start: int
    end: int
    kind: int
    bears: int


@dataclass(frozen=True)
class TargetBatch:
    """A batch with its targets, each (pairs,)."""

    batch: Batch
    start: Tensor
    end: Tensor
    kind: Tensor
    bears: Tensor


def encode_examples(examples: Sequence[Example], trunk: Pretrained = PACKAGED_MINILM) -> list[EncodedExample]:
    """Tokenize examples for an encoder; those whose answer is beyond the last position are skipped."""
    made: list[EncodedExample] = []
    for begin in range(0, len(examples), _ENCODED_AT_ONCE):
        some = examples[begin : begin + _ENCODED_AT_ONCE]
        cut = encode_pairs([example.question for example in some], [example.context for example in some], trunk)
        made += filter(None, map(_encode_example, some, cut))
    return made


def _encode_example(example: Example, pair: EncodedPair) -> EncodedExample | None:
    kind, light = ANSWER_KINDS.index(example.kind) if example.kind else _NO_LABEL, EncodedPair(pair.ids, pair.first, [])
    bears = _NO_LABEL if example.bears is None else int(example.bears)
    if example.kind != "span":
        return EncodedExample(example, light, _NO_LABEL, _NO_LABEL, kind, bears)
    first, last = example.spans[0]
    inside = [number for number, (begin, end) in enumerate(pair.offsets) if begin < last and end > first]
    if not inside or pair.offsets[inside[-1]][1] < last:
        return None
    return EncodedExample(example, light, pair.first + inside[0], pair.first + inside[-1], kind, bears)


def group_batches(items: Sequence[EncodedExample], pieces: int, choose: random.Random | None = None) -> Iterator[list[EncodedExample]]:
    """Yield batches of examples of similar length, of at most `pieces` pieces; in random order if `choose` is given."""
    order = sorted(items, key=lambda item: len(item.pair) + (choose.random() * 8 if choose else 0))
    groups: list[list[EncodedExample]] = []
    for item in order:
        if not groups or (len(groups[-1]) + 1) * len(item.pair) > pieces:
            groups.append([])
        groups[-1].append(item)
    if choose:
        choose.shuffle(groups)
    yield from groups


def group_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Return groups of indices of similar length, so that little padding is needed."""
    groups: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        if not groups or len(groups[-1]) == _MAX_GROUP_SIZE or lengths[number] < _MIN_LENGTH_RATIO * lengths[groups[-1][0]]:
            groups.append([])
        groups[-1].append(number)
    return groups


def collate_targets(items: Sequence[EncodedExample], device: torch.device) -> TargetBatch:
    """Return a group as tensors on a device."""
    start, end, kind, bears = torch.tensor([(item.start, item.end, item.kind, item.bears) for item in items], device=device).unbind(dim=1)
    return TargetBatch(collate_pairs([item.pair for item in items]).to(device), start, end, kind, bears)
