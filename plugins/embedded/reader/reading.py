"""Run the reader's network on passages: the probability of each kind of answer, the likeliest spans, and the passage's relevance.

The last digits of a result depend on the other texts in a batch. So each passage is read alone, and the result is cached: it is the same
for all callers, and no pair of question and passage is read twice.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, NotRequired, TypedDict

from ramify.embedded.encoders.e5 import MULTILINGUAL_E5
from ramify.embedded.encoders.mpnet import ALL_MPNET
from ramify.embedded.encoders.packaged import shared_layers
from ramify.embedded.reader import large, multilingual
from ramify.embedded.reader.calibration import SPAN_WEIGHTS, YES_NO_WEIGHTS, CalibrationWeights
from ramify.nodes.asking.budget import CALL_CONTEXT
from ramify.nodes.settings import is_large
from ramify.tools.embeddings.local_encoders import best_device
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, POSITIONS, Pretrained, load_tokenizer
from ramify.tools.identifiers import narrow
from ramify.tools.released_weights import dequantize, verify_weights

if TYPE_CHECKING:
    from torch import Tensor

    from ramify.embedded.reader.network import Batch, Network, ReaderOutput

MAX_PIECES = POSITIONS
"""Longer passages are truncated."""


class PassageText(TypedDict):
    """A passage as prompts contain it."""

    title: str
    source: str
    text: str
    heading: NotRequired[str]
    """The headings above it, the outermost first."""
    version: NotRequired[str]
    """The date or version of its document."""


@dataclass(frozen=True)
class EncodedPair:
    """A question and a passage as word pieces. `first`: index of the passage's first piece; `offsets`: character spans of its pieces."""

    ids: list[int]
    first: int
    offsets: list[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.ids)


def add_title(title: str | None, text: str) -> str:
    """Return a passage's text with its title, which may be the answer."""
    return f"{title}: {text}" if title else text


def encode_pairs(questions: Sequence[str], contexts: Sequence[str], encoder: Pretrained = PACKAGED_MINILM) -> list[EncodedPair]:
    """Tokenize pairs of question and context for an encoder."""
    narrowed = list(zip(map(narrow, questions), map(narrow, contexts), strict=True))  # as long as before, so offsets are the same
    encodings = load_tokenizer(encoder, truncate=True).encode_batch(narrowed)
    of_contexts = ([number for number, text in enumerate(encoding.sequence_ids) if text == 1] for encoding in encodings)
    starts = [places[0] if places else len(encoding) - 1 for encoding, places in zip(encodings, of_contexts, strict=True)]
    return [EncodedPair(encoding.ids, first, encoding.offsets[first:-1]) for encoding, first in zip(encodings, starts, strict=True)]


SMALL_WEIGHTS_FILE = "weights.safetensors"
SMALL_WEIGHTS_SHA256 = "c1c964909a2a0de7959fc983798de4798239093454c7aa8f5b70058bd8a25951"
BATCH_LENGTH_STEP = 32
"""Lengths of batches are multiples of this."""
READER_REMEDY = "reinstall ramify, or name a language model, such as ollama:llama3.1:8b"


@dataclass(eq=False)
class Reader:
    """A trained reader: its encoder, the file of its weights in this package, and its calibration weights."""

    label: str
    """Its name in error messages."""
    encoder: Pretrained
    file: str
    sha256: str
    span_weights: CalibrationWeights
    yes_no_weights: CalibrationWeights
    _network: "Network | None" = None
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def loaded(self) -> bool:
        """Return whether the network is loaded."""
        return self._network is not None

    def load(self) -> "Network":
        """Return the network, loaded on the first call; blocking.

        ModelError if its weights or those of its encoder are missing or changed.
        """
        from safetensors.torch import load_file

        if self._network is None:
            with self._loading:
                if self._network is None:
                    with as_file(files(__package__) / self.file) as path:
                        packed = load_file(verify_weights(path, self.sha256, self.label, READER_REMEDY))
                    self._network = _with_changed_layers(packed) if self.encoder is ALL_MPNET else _on_shared_layers(packed, self.encoder)
        return self._network


SMALL = Reader("the reader", PACKAGED_MINILM, SMALL_WEIGHTS_FILE, SMALL_WEIGHTS_SHA256, SPAN_WEIGHTS, YES_NO_WEIGHTS)
MULTILINGUAL = Reader(
    "the multilingual reader",
    MULTILINGUAL_E5,
    multilingual.MULTILINGUAL_WEIGHTS_FILE,
    multilingual.MULTILINGUAL_WEIGHTS_SHA256,
    multilingual.MULTILINGUAL_SPAN_WEIGHTS,
    multilingual.MULTILINGUAL_YES_NO_WEIGHTS,
)
LARGE = Reader(
    "the large reader",
    ALL_MPNET,
    large.LARGE_WEIGHTS_FILE,
    large.LARGE_WEIGHTS_SHA256,
    large.LARGE_SPAN_WEIGHTS,
    large.LARGE_YES_NO_WEIGHTS,
)


def reader_for(question: str, contexts: Sequence[str]) -> Reader:
    """Return the reader for a question and its contexts."""
    if multilingual.should_read(question, contexts):
        return MULTILINGUAL
    return selected_reader()


def selected_reader() -> Reader:
    """Return the large reader if the running step's settings name it, else the small one."""
    context = CALL_CONTEXT.get(None)
    return LARGE if context is not None and is_large(context.settings.model) else SMALL


def _on_shared_layers(packed: "dict[str, Tensor]", encoder: Pretrained) -> "Network":
    """Return a network of quantized layers and heads on an encoder's lower layers, which share memory with it."""
    import torch

    from ramify.embedded.reader.network import Network

    lower = shared_layers(encoder)
    with torch.device("meta"):  # no weights are allocated
        network = Network(lower.shape)
    network.encoder.embeddings = lower.embeddings
    for number, layer in enumerate(lower.layers):
        if f"encoder.encoder.layer.{number}.output.dense.weight" not in packed:
            network.encoder.layers[number] = layer
    network.load_state_dict(dequantize(packed, lower.dtype), strict=False, assign=True)
    return network.to(lower.device).eval()


def _with_changed_layers(packed: "dict[str, Tensor]") -> "Network":
    """Return a network of quantized heads on the large encoder's layers with low-rank updates."""
    import torch

    from ramify.embedded.reader.network import Network

    device, dtype = best_device()
    unpacked, layers = dequantize(packed), ALL_MPNET.new_layers(dtype)
    with torch.device("meta"):
        network = Network(layers.shape)
    network.encoder = layers
    heads = {name: weight.to(dtype) for name, weight in unpacked.items() if not name.startswith("encoder.")}
    network.load_state_dict(
        heads | large.apply_low_rank(network.encoder.state_dict(prefix="encoder."), unpacked), strict=False, assign=True
    )
    return network.to(device).eval()


_CACHE_SIZE = 16384
_MAX_STARTS = 12
_MAX_ANSWER_PIECES = 40
_MAX_SPANS = 5
_COMPUTE_LOCK = threading.Lock()


@dataclass(frozen=True)
class TextSpan:
    """A character span of a context, and its probability given that the context contains the answer."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class PassageReading:
    """The output for one context: probabilities of the kinds of answers, the likeliest spans (best first), and relevance in [0, 1]."""

    span: float
    yes: float
    no: float
    text_spans: tuple[TextSpan, ...]
    relevance: float = 0.0


def read_contexts(question: str, contexts: Sequence[str], reader: Reader | None = None) -> tuple[PassageReading, ...]:
    """Read a question in each context, with the same reader for all."""
    reader = reader or reader_for(question, contexts)
    return tuple(read_context(question, context, reader) for context in contexts)


def collate_pairs(pairs: Sequence[EncodedPair]) -> "Batch":
    """Pad pairs to the longest length, rounded up, since each new length costs the processor time for preparation."""
    import torch

    from ramify.embedded.reader.network import Batch
    from ramify.tools.embeddings.bert import pad_batch

    ids, mask = pad_batch([pair.ids for pair in pairs], BATCH_LENGTH_STEP)
    types, readable = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
    for row, pair in enumerate(pairs):
        types[row, pair.first : len(pair.ids)] = 1
        readable[row, pair.first : len(pair.ids) - 1] = True
    return Batch(ids, types, mask, readable)


@lru_cache(maxsize=_CACHE_SIZE)
def read_context(question: str, context: str, reader: Reader = SMALL) -> PassageReading:
    """Read a question in a context; cached."""
    return read_pairs(reader.load(), encode_pairs([question], [context], reader.encoder))[0]


def read_pairs(network: "Network", pairs_read: Sequence[EncodedPair]) -> list[PassageReading]:
    """Run the network on a batch of pairs."""
    import torch

    with _COMPUTE_LOCK, torch.inference_mode():  # parallel computations slow each other down
        output = network(collate_pairs(pairs_read).to(network.span.weight.device))
        spots = _best_spans(output)
        kinds, bears = output.kind.exp().tolist(), output.relevance.sigmoid().tolist()
    read = []
    for pair, kind, best, bear in zip(pairs_read, kinds, spots, bears, strict=True):
        spans = []
        for first, last, probability in best:
            begin, end = int(first) - pair.first, int(last) - pair.first
            if 0 <= begin <= end < len(pair.offsets) and probability > 0:
                spans.append(TextSpan(pair.offsets[begin][0], pair.offsets[end][1], probability))
        read.append(PassageReading(kind[0], kind[1], kind[2], tuple(spans), bear))
    return read


def _best_spans(output: "ReaderOutput") -> list[list[tuple[int, int, float]]]:
    """Return the likeliest spans of each pair: first piece, last piece, probability."""
    import torch

    starts = min(_MAX_STARTS, output.start.shape[1])
    start_values, start_at = output.start.topk(starts, dim=1)
    ends = output.end.unsqueeze(1).expand(-1, starts, -1)
    place = torch.arange(output.end.shape[1], device=output.end.device)
    behind = place - start_at.unsqueeze(-1)
    joint = (start_values.unsqueeze(-1) + ends).masked_fill((behind < 0) | (behind >= _MAX_ANSWER_PIECES), -torch.inf)
    # Start and end are predicted independently: normalise over the possible spans.
    joint = joint.flatten(1)
    joint = joint - joint.logsumexp(dim=1, keepdim=True)
    values, at = joint.topk(_MAX_SPANS, dim=1)
    first, last = start_at.gather(1, at // behind.shape[2]), at % behind.shape[2]
    rows: list[list[tuple[int, int, float]]] = torch.stack((first.double(), last.double(), values.double().exp()), dim=-1).tolist()
    return rows
