"""The reader's network: BERT over a question and a passage, with heads for spans, kinds of answers and relevance."""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from ramify.tools.embeddings.bert import Bert, Shape

ANSWER_KINDS: Final = ("span", "yes", "no", "none")
"""The kinds of answers; `none` if the passage does not contain one."""


@dataclass(frozen=True)
class Batch:
    """Pairs of question and passage, (pairs, pieces): token ids, segment ids, attention mask, and which pieces may be answers."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    readable: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Move the tensors to a device."""
        return Batch(self.ids.to(device), self.types.to(device), self.mask.to(device), self.readable.to(device))


@dataclass(frozen=True)
class ReaderOutput:
    """Log probabilities: of each piece as start and end of the answer, (pairs, pieces), and of each kind, (pairs, kinds).

    `relevance`: log odds that the passage is relevant to the question, (pairs,).
    """

    start: Tensor
    end: Tensor
    kind: Tensor
    relevance: Tensor


class Network(nn.Module):
    """A BERT encoder over question and passage, with heads for span, kind and relevance."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.encoder = Bert(shape)
        self.span = nn.Linear(shape.width, 2)
        self.kind = _classifier_head(shape.width, len(ANSWER_KINDS))
        self.relevance = _classifier_head(shape.width, 1)

    def forward(self, batch: Batch) -> ReaderOutput:
        """Return log probabilities; pieces outside the passage are masked."""
        types = batch.types.clamp(
            max=self.encoder.shape.types - 1
        )  # an encoder with one segment type separates the texts by the special token
        states = self.encoder(batch.ids, batch.mask, types)[-1]
        ends = self.span(states).float().masked_fill(~batch.readable[..., None], torch.finfo(torch.float32).min)
        start, end = ends.log_softmax(dim=1).unbind(dim=-1)
        first = states[:, 0]
        return ReaderOutput(start, end, self.kind(first).float().log_softmax(dim=-1), self.relevance(first).float()[:, 0])


def _classifier_head(width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs))
