"""A language model of the architecture qwen2 or llama in torch, with the weights of its GGUF file, dequantised."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gguf
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

ARCHITECTURES: Final = {"qwen2": gguf.MODEL_ARCH.QWEN2, "llama": gguf.MODEL_ARCH.LLAMA}


@dataclass(frozen=True)
class Layout:
    """How a model's GGUF file names and arranges the weights that transformers has under names of its own."""

    architecture: str
    layers: int
    heads: int
    key_heads: int

    @classmethod
    def read(cls, path: Path) -> "Layout":
        """Return the layout of a GGUF file; SystemExit if its architecture is not supported."""
        reader = gguf.GGUFReader(path)
        architecture = _field(reader, "general.architecture")
        if architecture not in ARCHITECTURES:
            raise SystemExit(f"{path} is of the architecture {architecture!r}: name a file of {' or '.join(ARCHITECTURES)}")
        names = ("block_count", "attention.head_count", "attention.head_count_kv")
        return cls(architecture, *(_field(reader, f"{architecture}.{name}") for name in names))

    def file_name(self, name: str) -> str:
        """Return the file's name of a weight or layer of transformers, such as `blk.0.attn_q` for `model.layers.0.self_attn.q_proj`."""
        found = gguf.get_tensor_name_map(ARCHITECTURES[self.architecture], self.layers).get_name(name, (".weight", ".bias"))
        if found is None:
            raise SystemExit(f"the architecture {self.architecture!r} has no weight {name!r} in a GGUF file")
        return found

    def to_file(self, name: str, weight: Tensor) -> Tensor:
        """Return the rows of a weight in the order of the file: llama's queries and keys have the two halves of a head interleaved."""
        heads = self._rotated_heads(name)
        return weight.reshape(heads, 2, -1, *weight.shape[1:]).transpose(1, 2).reshape(weight.shape) if heads else weight

    def from_file(self, name: str, weight: Tensor) -> Tensor:
        """Return the rows of a weight of the file in the order of transformers."""
        heads = self._rotated_heads(name)
        return weight.reshape(heads, -1, 2, *weight.shape[1:]).transpose(1, 2).reshape(weight.shape) if heads else weight

    def _rotated_heads(self, name: str) -> int:
        """Return the heads of a weight whose rows have another order in the file, else 0."""
        if self.architecture != "llama":
            return 0
        return self.heads if ".q_proj" in name else self.key_heads if ".k_proj" in name else 0


def _field(reader: gguf.GGUFReader, name: str) -> Any:
    field = reader.get_field(name)
    if field is None:
        raise SystemExit(f"the GGUF file has no field {name!r}: use the complete file of a model")
    return field.contents()


def load_tokenizer(path: Path) -> Any:
    """Return the tokenizer of a GGUF file, with its chat template."""
    return AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name, local_files_only=True)


def load_network(path: Path, dtype: torch.dtype) -> nn.Module:
    """Return the network of a GGUF file with its weights, which are not trained."""
    layout = Layout.read(path)
    stored = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    config = AutoConfig.from_pretrained(path.parent, gguf_file=path.name, local_files_only=True)
    config.tie_word_embeddings = "output.weight" not in stored
    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]  # transformers does not annotate it
    files = {name: stored.pop(layout.file_name(name)) for name, _ in empty.named_parameters()}  # of tied weights the first alone
    if stored:
        raise SystemExit(f"{path} has weights that {layout.architecture!r} does not use: {', '.join(stored)}; name another model's file")
    weights = {}
    for name, tensor in files.items():
        weights[name] = layout.from_file(name, torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))).to(dtype)
    network: nn.Module = type(empty).from_pretrained(None, config=config, state_dict=weights, dtype=dtype)
    return network.requires_grad_(False)
