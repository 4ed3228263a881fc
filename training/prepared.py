"""Examples as the network sees them: word pieces, where the answer starts and ends, batches of about one size."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, Pretrained
from ramify.tools.reader.network import KINDS, Batch
from ramify.tools.reader.reading import Pair, batch, pairs
from training.example import Example

_NOWHERE = -1
_AT_ONCE = 1000
_LIKE = 0.5
_IN_A_GROUP = 16


@dataclass(frozen=True)
class Prepared:
    """An example cut into pieces; start and end are -1 where there is no span, kind and bears where nobody says."""

    example: Example
    pair: Pair
    start: int
    end: int
    kind: int
    bears: int


@dataclass(frozen=True)
class Wanted:
    """A batch, and what the network should say to it."""

    batch: Batch
    start: Tensor
    end: Tensor
    kind: Tensor
    bears: Tensor


def prepare(examples: Sequence[Example], trunk: Pretrained = PACKAGED_MINILM) -> list[Prepared]:
    """Cut examples into an encoder's pieces; one whose answer lies behind the last position is left out."""
    made: list[Prepared] = []
    for begin in range(0, len(examples), _AT_ONCE):
        some = examples[begin : begin + _AT_ONCE]
        cut = pairs([example.question for example in some], [example.context for example in some], trunk)
        made += filter(None, map(_prepared, some, cut))
    return made


def _prepared(example: Example, pair: Pair) -> Prepared | None:
    kind, light = KINDS.index(example.kind) if example.kind else _NOWHERE, Pair(pair.ids, pair.first, [])
    bears = _NOWHERE if example.bears is None else int(example.bears)
    if example.kind != "span":
        return Prepared(example, light, _NOWHERE, _NOWHERE, kind, bears)
    first, last = example.spans[0]
    inside = [number for number, (begin, end) in enumerate(pair.offsets) if begin < last and end > first]
    if not inside or pair.offsets[inside[-1]][1] < last:
        return None
    return Prepared(example, light, pair.first + inside[0], pair.first + inside[-1], kind, bears)


def batches(items: Sequence[Prepared], pieces: int, choose: random.Random | None = None) -> Iterator[list[Prepared]]:
    """Group examples of like length into batches of at most so many pieces; in random order where a source of it is given."""
    order = sorted(items, key=lambda item: len(item.pair) + (choose.random() * 8 if choose else 0))
    groups: list[list[Prepared]] = []
    for item in order:
        if not groups or (len(groups[-1]) + 1) * len(item.pair) > pieces:
            groups.append([])
        groups[-1].append(item)
    if choose:
        choose.shuffle(groups)
    yield from groups


def of_like_length(lengths: Sequence[int]) -> list[list[int]]:
    """Group pairs that are only read, by their numbers, such that little is read of what only fills a short one up to the longest."""
    groups: list[list[int]] = []
    for number in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        if not groups or len(groups[-1]) == _IN_A_GROUP or lengths[number] < _LIKE * lengths[groups[-1][0]]:
            groups.append([])
        groups[-1].append(number)
    return groups


def wanted(items: Sequence[Prepared], device: torch.device) -> Wanted:
    """Bring a group to tensors."""
    start, end, kind, bears = torch.tensor([(item.start, item.end, item.kind, item.bears) for item in items], device=device).unbind(dim=1)
    return Wanted(batch([item.pair for item in items]).to(device), start, end, kind, bears)
