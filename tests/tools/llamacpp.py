"""llama.cpp's own server around a model of random weights: a real engine with grammars and log probabilities, without a download."""

from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import pytest
import xllamacpp

WIDTH, LAYERS, HEADS, HIDDEN = 64, 2, 4, 128
WINDOW = 2048
SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
TEMPLATE = (
    "{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n{{ message.content }}<|eot_id|>{% endfor %}"
    "<|start_header_id|>assistant<|end_header_id|>\n\n"
)
MERGES = ["t h", "th e", "i n", "a n", "e r", "o n"]


@dataclass(frozen=True)
class Engine:
    """A running server; `address` is what goes into base_url."""

    address: str
    server: xllamacpp.Server


def byte_letters() -> list[str]:
    """The letters that GPT-2's vocabulary, and LLaMA 3's after it, writes bytes with."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (256 + number for number in range(256))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def write_model(path: Path, template: str = TEMPLATE, kind: str = "model") -> None:
    """Write a LLaMA of random weights, with a byte-level vocabulary as LLaMA 3 has one."""
    vocabulary = byte_letters() + ["".join(merge.split()) for merge in MERGES] + SPECIAL
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_type(kind)
    describe(writer, vocabulary)
    if template:
        writer.add_chat_template(template)
    chance = np.random.default_rng(7)

    def add(name: str, *shape: int) -> None:
        weights = np.ones(shape) if len(shape) == 1 else chance.normal(0, 0.3, shape)
        writer.add_tensor(name, weights.astype(np.float32))

    add("token_embd.weight", len(vocabulary), WIDTH)
    add("output_norm.weight", WIDTH)
    add("output.weight", len(vocabulary), WIDTH)
    for layer in range(LAYERS):
        add(f"blk.{layer}.attn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_norm.weight", WIDTH)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{part}.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_adapter(
    path: Path, architecture: str = "llama", kind: str = "lora", width: int = WIDTH, name: str = "", scale: float = 1.0
) -> None:
    """Write an adapter of random weights for such a model, which change what it says, or hardly do so with a small scale."""
    writer, chance = gguf.GGUFWriter(str(path), architecture), np.random.default_rng(8)
    writer.add_type(gguf.GGUFType.ADAPTER)
    if name:
        writer.add_name(name)
    writer.add_string(gguf.Keys.Adapter.TYPE, kind)
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, 4)
    for layer in range(LAYERS):
        for part, shape in (("lora_a", (4, width)), ("lora_b", (width, 4))):
            writer.add_tensor(f"blk.{layer}.attn_output.weight.{part}", chance.normal(0, scale, shape).astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def describe(writer: gguf.GGUFWriter, vocabulary: list[str]) -> None:
    writer.add_name("random")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(vocabulary)
    plain = len(vocabulary) - len(SPECIAL)
    writer.add_token_types([gguf.TokenType.NORMAL] * plain + [gguf.TokenType.CONTROL] * len(SPECIAL))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(plain)
    writer.add_eos_token_id(plain + 1)
    writer.add_eot_token_id(plain + 4)


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    path = tmp_path_factory.mktemp("model") / "random.gguf"
    write_model(path)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.port = 0  # a free one
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1  # threads that wait for one another spin
    server = xllamacpp.Server(parameters)
    return Engine(f"{server.listening_address}/v1", server)
