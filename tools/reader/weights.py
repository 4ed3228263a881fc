"""Load the network that ships with the package, a byte a weight: its own layers from the file beside this, the rest from the encoder."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from ramify.tools.released_weights import intact

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BertModel

    from ramify.tools.reader.network import Network

FILE = "weights.safetensors"
SHA256 = "0719edab08808bb21df1a33e43f27c114abe41627da41a12555c3ed223615c69"
_SCALE = "/scale"
_LEVELS = 127
_REMEDY = "reinstall ramify, or name a language model, such as ollama:llama3.1:8b"


@lru_cache(maxsize=1)
def load_network() -> "Network":
    """Return the trained network, ready to read; ModelError where its weights are missing or not those that were released.

    The trained layers are put on the encoder's lower ones, which are shared with it in memory.
    """
    import torch
    from safetensors.torch import load_file

    from ramify.tools.reader.network import Network

    with as_file(files(__package__) / FILE) as path:
        packed = load_file(intact(path, SHA256, "the reader", _REMEDY))
    lower = packaged_layers()
    with torch.device("meta"):  # nothing is made that is thrown away at once
        network = Network(lower.config)
    network.encoder.embeddings = lower.embeddings
    for number, layer in enumerate(lower.encoder.layer):
        if f"encoder.encoder.layer.{number}.output.dense.weight" not in packed:
            network.encoder.encoder.layer[number] = layer
    network.load_state_dict(unpack(packed), strict=False, assign=True)
    return network.to(lower.device, lower.dtype).eval()


def packaged_layers() -> "BertModel":
    """Return the model inside the packaged encoder."""
    from ramify.tools.embeddings import load_encoder
    from ramify.tools.embeddings.sentence_encoder import SentenceEncoder

    encoder = load_encoder("minilm")
    if not isinstance(encoder, SentenceEncoder):
        raise TypeError(f"minilm is a {type(encoder).__name__}")
    model: BertModel = encoder.model[0].auto_model  # type: ignore[assignment]  # sentence-transformers says less than it gives
    return model


def pack(weights: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Round matrices to 8 bits a weight, every row with a scale of its own; vectors are kept in 32 bits, they are small."""
    import torch

    packed: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.ndim != 2:
            packed[name] = weight.float().contiguous()
            continue
        scale = weight.float().abs().amax(dim=1, keepdim=True).clamp_min(1e-8) / _LEVELS
        packed[name] = (weight.float() / scale).round().to(torch.int8)
        packed[name + _SCALE] = scale
    return packed


def unpack(packed: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Give the weights back in 32 bits."""
    return {
        name: weight.float() * packed[name + _SCALE] if name + _SCALE in packed else weight
        for name, weight in packed.items()
        if not name.endswith(_SCALE)
    }
