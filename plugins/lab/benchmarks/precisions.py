"""Measure how fast one thread encodes passages of 300 tokens: torch in float32 and bfloat16, and OpenVINO, if it is installed.

    RAMIFY_DATA=… python plugins/lab/benchmarks/precisions.py [--passages 64]

Passages a second of the processor's time, so that other programs matter less; the best of two runs, in batches of 16.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[3]))  # benchmarks/ is not installed

from plugins.lab.benchmarks.made_passages import SETS, records
from ramify.tools.embeddings.bert import Bert
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, load_tokenizer

TOKENS, AT_ONCE = 300, 16


def passages(count: int) -> Tensor:
    """Return `count` passages as word pieces, cut from paragraphs one after another."""
    texts = (record["text"] for name in SETS for record in records(name, "corpus.jsonl.gz"))
    pieces = (piece for text in texts for piece in load_tokenizer(PACKAGED_MINILM, truncate=True).encode(text).ids[1:-1])
    return torch.tensor(list(islice(pieces, count * TOKENS))).reshape(count, TOKENS)


def rate(encode: Callable[[Tensor, Tensor], object], ids: Tensor) -> float:
    """Return the passages a second."""
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        for some in ids.split(AT_ONCE):
            encode(some, torch.ones_like(some))
        best = min(best, time.process_time() - began)
    return len(ids) / best


class Last(nn.Module):
    """The last states alone."""

    def __init__(self, model: Bert) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.model(ids, mask)[-1]


def in_openvino(model: Bert, ids: Tensor) -> Iterator[tuple[str, float]]:
    import openvino

    some = ids[:2]
    converted = openvino.convert_model(Last(model), example_input=(some, torch.ones_like(some)))
    for kind in ("f32", "bf16"):
        how = {"INFERENCE_PRECISION_HINT": kind, "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
        compiled = openvino.Core().compile_model(converted, "CPU", how)
        yield f"OpenVINO {kind}", rate(_asked(compiled.create_infer_request(), len(compiled.inputs)), ids)


def _asked(request: Any, inputs: int) -> Callable[[Tensor, Tensor], object]:
    return lambda ids, mask: request.infer([tensor.numpy() for tensor in (ids, mask)[:inputs]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=64)
    ids = passages(parser.parse_args().passages)
    torch.set_num_threads(1)
    with torch.inference_mode():
        for dtype in (torch.float32, torch.bfloat16):
            print(f"{dtype}: {rate(PACKAGED_MINILM.new_layers(dtype), ids):.1f} passages a second", flush=True)
    if find_spec("openvino"):
        for name, speed in in_openvino(PACKAGED_MINILM.new_layers(), ids):
            print(f"{name}: {speed:.1f} passages a second", flush=True)


if __name__ == "__main__":
    main()
