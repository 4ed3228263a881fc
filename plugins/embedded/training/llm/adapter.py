"""Write a trained adapter as a GGUF file for llama.cpp, and compare llama.cpp with it to the trained network.

python -m plugins.embedded.training.llm.adapter MODEL.gguf OUT/adapter.safetensors ADAPTER.gguf --check EXAMPLES.jsonl
"""

import argparse
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from plugins.embedded.training.llm.base import Layout, load_network, load_tokenizer
from plugins.embedded.training.llm.lora import LowRank, add_low_rank, copy_weights
from plugins.embedded.training.llm.metadata import LICENCE, Metadata, add_base_option, given_metadata, read_run
from plugins.embedded.training.llm.rows import encode, read_examples

COMPARED = 20
"""The most probable tokens whose log probabilities are compared."""
MIN_PROBABILITY = 0.01


def write_adapter(model: Path, adapter: Path, out: Path, metadata: Metadata | None = None) -> None:
    """Write an adapter as a GGUF file, in float16; llama.cpp multiplies the update by alpha / rank, which is 1."""
    layout = Layout.read(model)
    rank = int(read_run(adapter)["rank"])
    writer = gguf.GGUFWriter(out, layout.architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, rank)
    if metadata is not None:
        metadata.write(writer)
    for name, weight in load_file(adapter).items():
        layer, _, part = name.rpartition(".")
        ordered = layout.to_file(layer, weight) if part == "up" else weight
        suffix = {"down": "lora_a", "up": "lora_b"}[part]
        writer.add_tensor(f"{layout.file_name(layer)}.weight.{suffix}", ordered.half().contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCpp:
    """A model in llama.cpp with an adapter, which each call can switch off."""

    def __init__(self, model: Path, adapter: Path) -> None:
        xllamacpp = importlib.import_module("xllamacpp")
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(model)
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter), 1.0)]
        parameters.n_parallel, parameters.n_ctx, parameters.port = 1, 4096, 0
        parameters.warmup, parameters.verbosity = False, -1
        parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = torch.get_num_threads()
        self._server = xllamacpp.Server(parameters)

    def next_tokens(self, ids: list[int], scale: float) -> dict[int, float]:
        """Return the log probabilities of the most probable next tokens, with the adapter at a scale."""
        # It writes an "a", which leaves the probabilities as they are: none are told of an end, or of a part of a character.
        options = {"max_tokens": 1, "temperature": 0, "logprobs": COMPARED, "grammar": 'root ::= "a"'}
        asked = {"prompt": ids, **options, **_with_scale(scale)}
        (first,) = self._server.handle_completions(asked)["choices"][0]["logprobs"]["content"]
        return {token["id"]: token["logprob"] for token in first["top_logprobs"]}

    def reply(self, messages: list[dict[str, str]], scale: float, max_tokens: int = 256) -> tuple[str, int]:
        """Return the most probable reply to a conversation, by the model's chat template, and how many tokens were read for it."""
        asked = {"messages": messages, "max_tokens": max_tokens, "temperature": 0, **_with_scale(scale)}
        completion = self._server.handle_chat_completions(asked)
        return str(completion["choices"][0]["message"]["content"]), int(completion["usage"]["prompt_tokens"])


def _with_scale(scale: float) -> dict[str, Any]:
    """Return the options of a call with the adapter at a scale; what it read with another scale is not reused."""
    return {"lora": [{"id": 0, "scale": scale}], "cache_prompt": False}


@dataclass
class Difference:
    """How far llama.cpp is from the network, over some positions."""

    positions: int = 0
    same_top: int = 0
    greatest: float = 0.0
    total: float = 0.0
    compared: int = 0

    def add(self, network: Tensor, engine: dict[int, float]) -> None:
        """Add a position: all log probabilities of the network, and llama.cpp's highest."""
        self.positions += 1
        self.same_top += int(network.argmax()) == max(engine, key=lambda token: engine[token])
        for token, value in engine.items():
            if network[token].exp() >= MIN_PROBABILITY:
                difference = abs(network[token].item() - value)
                self.total, self.compared, self.greatest = self.total + difference, self.compared + 1, max(self.greatest, difference)

    def __str__(self) -> str:
        """Return it as text."""
        mean = self.total / max(1, self.compared)
        differ = f"log probabilities differ by {mean:.3f} (at most {self.greatest:.3f})"
        return f"same first token at {self.same_top} of {self.positions} positions, {differ}"


def load_trained(model: Path, adapter: Path) -> nn.Module:
    """Return the network of a GGUF file with a trained adapter, in float32."""
    network = load_network(model, torch.float32)
    weights = load_file(adapter)
    rank = next(weight.shape[0] for name, weight in weights.items() if name.endswith(".down"))
    copy_weights(add_low_rank(network, rank), weights)
    return network


def set_scale(network: nn.Module, scale: float) -> None:
    """Multiply all updates of a network by a number; 0 switches the adapter off."""
    for module in network.modules():
        if isinstance(module, LowRank):
            module.scale = scale


def compare(network: nn.Module, engine: LlamaCpp, sequences: Sequence[tuple[list[int], Sequence[int]]], scale: float) -> Difference:
    """Return the difference of the network and llama.cpp after the first tokens of sequences, so many as are given with each."""
    difference = Difference()
    set_scale(network, scale)
    for ids, lengths in sequences:
        with torch.no_grad():
            log_probabilities = network(torch.tensor([ids])).logits[0].log_softmax(-1)
        for length in lengths:
            difference.add(log_probabilities[length - 1], engine.next_tokens(ids[:length], scale))
    return difference


def places(tokenizer: Any, examples: Path, most: int) -> Iterator[tuple[list[int], list[int]]]:
    """Return the tokens of the first examples, and lengths at which to compare: before the reply and within it."""
    for example in read_examples(examples)[:most]:
        tokens = encode(tokenizer, example)
        prompt = len(tokens.ids) - tokens.replied
        yield tokens.ids, sorted({prompt + tokens.replied * part // 4 for part in range(4)})


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the adapter; with --check compare and show replies."""
    parser = argparse.ArgumentParser(description="Write an adapter as a GGUF file.")
    parser.add_argument("model", type=Path)
    parser.add_argument("adapter", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--check", type=Path, help="file of examples on which to compare llama.cpp with the network")
    parser.add_argument("--most", type=int, default=8, help="examples to compare")
    parser.add_argument("--name", help="name of the adapter in the file")
    parser.add_argument("--licence", default=LICENCE, help=f"its licence, as SPDX and model hubs name it (default {LICENCE})")
    add_base_option(parser)
    given = parser.parse_args(arguments)
    write_adapter(given.model, given.adapter, given.out, given_metadata(given, read_run(given.adapter)))
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB")
    if given.check:
        engine, network = LlamaCpp(given.model, given.out), load_trained(given.model, given.adapter)
        tokenizer = load_tokenizer(given.model)
        sequences = list(places(tokenizer, given.check, given.most))
        for what, scale in (("model alone", 0.0), ("with adapter", 1.0)):
            print(f"{what}: {compare(network, engine, sequences, scale)}", flush=True)
        for example in read_examples(given.check)[: given.most]:
            (alone, read), (adapted, _) = (engine.reply(example["messages"], scale) for scale in (0.0, 1.0))
            tokens = encode(tokenizer, example)
            print(f"{len(tokens.ids) - tokens.replied} tokens, {read} in llama.cpp; expected {example['reply']!r}")
            print(f"  alone: {alone!r}\n  with adapter: {adapted!r}", flush=True)


if __name__ == "__main__":
    main()
