"""A tiny language model with random weights, in a GGUF file, and examples for it."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import gguf
import torch
from tokenizers.pre_tokenizers import ByteLevel

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WIDTH, LAYERS, HEADS, KEY_HEADS, INNER = 64, 2, 4, 2, 96


def write_model(path: Path, architecture: str, more: Mapping[str, tuple[int, ...]] = MappingProxyType({})) -> Path:
    """Write a model of an architecture, with more weights by name and shape; return its path."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_context_length(1024)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    tokens = [*sorted(ByteLevel.alphabet()), "ab", *SPECIAL]
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2" if architecture == "qwen2" else "smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * (len(tokens) - 3) + [gguf.TokenType.CONTROL] * 3)
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_bos_token_id(len(tokens) - 3)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, shape in (_shapes(architecture, len(tokens)) | more).items():
        weight = torch.ones(shape) if "norm" in name else torch.randn(shape) * 0.25
        writer.add_tensor(name, weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _shapes(architecture: str, tokens: int) -> dict[str, tuple[int, ...]]:
    keys = WIDTH // HEADS * KEY_HEADS
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (tokens, WIDTH), "output_norm.weight": (WIDTH,)}
    for layer in range(LAYERS):
        block = {
            "attn_norm.weight": (WIDTH,),
            "attn_q.weight": (WIDTH, WIDTH),
            "attn_k.weight": (keys, WIDTH),
            "attn_v.weight": (keys, WIDTH),
            "attn_output.weight": (WIDTH, WIDTH),
            "ffn_norm.weight": (WIDTH,),
            "ffn_gate.weight": (INNER, WIDTH),
            "ffn_up.weight": (INNER, WIDTH),
            "ffn_down.weight": (WIDTH, INNER),
        }
        if architecture == "qwen2":
            block |= {"attn_q.bias": (WIDTH,), "attn_k.bias": (keys,), "attn_v.bias": (keys,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in block.items()}
    return shapes


def write_examples(path: Path, number: int = 12) -> Path:
    """Write examples whose reply repeats a word of the question in brackets; return their path."""
    words = ("cat", "dog", "hen", "cow")
    lines = [
        {"prompt": "made", "source": "made", "messages": [{"role": "user", "content": f"{word}?"}], "reply": f"[{word}]"}
        for word in (words * number)[:number]
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
