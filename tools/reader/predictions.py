"""What the network reads in passages: how likely each kind of answer is, the likeliest spans, and how far a passage bears on the question.

The last digits of a result depend on what else is in a batch. So each passage is read alone, and what was read is kept: whoever asks, and
whatever was asked before, the answer is the same, and no pair of question and passage is read twice.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ramify.tools.reader.inputs import Pair, pairs
from ramify.tools.reader.weights import load_network

if TYPE_CHECKING:
    from ramify.tools.reader.network import Network, Read

_KEPT = 16384
_STARTS = 12
_LONGEST_ANSWER = 40
_SPANS = 5
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Spot:
    """A span of a context by its characters, and its probability if the context holds the answer at all."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class Reading:
    """What one context says: how likely each kind of answer is, its likeliest spans, the best first, and that it bears on the question."""

    span: float
    yes: float
    no: float
    spots: tuple[Spot, ...]
    relevance: float = 0.0


def read_contexts(question: str, contexts: Sequence[str]) -> tuple[Reading, ...]:
    """Read a question in each of some contexts."""
    return tuple(read_context(question, context) for context in contexts)


@lru_cache(maxsize=_KEPT)
def read_context(question: str, context: str) -> Reading:
    """Read a question in a context."""
    return read_pairs(load_network(), pairs([question], [context]))[0]


def read_pairs(network: "Network", some: Sequence[Pair]) -> list[Reading]:
    """Run the network once."""
    import torch

    from ramify.tools.reader.network import batch

    with _ONE_AT_A_TIME, torch.inference_mode():  # threads that compute side by side only slow each other down
        told = network(batch(some).to(network.span.weight.device))
        spots = _spots(told)
        kinds, bears = told.kind.exp().tolist(), told.relevance.sigmoid().tolist()
    return [
        Reading(kind[0], kind[1], kind[2], _in_text(pair, best), bear)
        for pair, kind, best, bear in zip(some, kinds, spots, bears, strict=True)
    ]


def _spots(told: "Read") -> list[list[tuple[int, int, float]]]:
    """Find the likeliest pairs of start and end, by piece."""
    import torch

    starts = min(_STARTS, told.start.shape[1])
    start_values, start_at = told.start.topk(starts, dim=1)
    ends = told.end.unsqueeze(1).expand(-1, starts, -1)
    place = torch.arange(told.end.shape[1], device=told.end.device)
    behind = place - start_at.unsqueeze(-1)
    joint = (start_values.unsqueeze(-1) + ends).masked_fill((behind < 0) | (behind >= _LONGEST_ANSWER), -torch.inf)
    # Start and end are guessed apart: what they say together counts among the spans that there are.
    joint = joint.flatten(1)
    joint = joint - joint.logsumexp(dim=1, keepdim=True)
    values, at = joint.topk(_SPANS, dim=1)
    first, last = start_at.gather(1, at // behind.shape[2]), at % behind.shape[2]
    rows: list[list[tuple[int, int, float]]] = torch.stack((first.double(), last.double(), values.double().exp()), dim=-1).tolist()
    return rows


def _in_text(pair: Pair, best: list[tuple[int, int, float]]) -> tuple[Spot, ...]:
    found = []
    for first, last, probability in best:
        begin, end = int(first) - pair.first, int(last) - pair.first
        if 0 <= begin <= end < len(pair.offsets) and probability > 0:
            found.append(Spot(pair.offsets[begin][0], pair.offsets[end][1], probability))
    return tuple(found)
