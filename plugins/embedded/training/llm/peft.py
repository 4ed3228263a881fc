"""Write a trained adapter in the format of PEFT, which transformers and vLLM load.

python -m plugins.embedded.training.llm.peft OUT/adapter.safetensors FOLDER [--base Qwen/Qwen2.5-Coder-1.5B-Instruct]
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file, save_file

from plugins.embedded.training.llm.metadata import add_base_option, base_of, read_run

WEIGHTS: Final = "adapter_model.safetensors"
CONFIG: Final = "adapter_config.json"
PARTS: Final = {"down": "lora_A", "up": "lora_B"}


def write_peft(adapter: Path, folder: Path, base: str) -> None:
    """Write the two files of an adapter, its weights in float16 as in the GGUF file; PEFT multiplies by alpha / rank, which is 1."""
    run, weights, layers = read_run(adapter), {}, set()
    for name, weight in load_file(adapter).items():
        layer, _, part = name.rpartition(".")
        layers.add(layer.rpartition(".")[2])
        weights[f"base_model.model.{layer}.{PARTS[part]}.weight"] = weight.to(torch.float16).contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / WEIGHTS, {"format": "pt"} | run)
    config = json.dumps(_config(int(run["rank"]), sorted(layers), base), indent=2)
    (folder / CONFIG).write_text(config + "\n", encoding="utf-8")


def _config(rank: int, layers: list[str], base: str) -> dict[str, Any]:
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": layers,
        "modules_to_save": None,
        "inference_mode": True,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the adapter."""
    parser = argparse.ArgumentParser(description="Write an adapter in the format of PEFT.")
    parser.add_argument("adapter", type=Path)
    parser.add_argument("folder", type=Path)
    add_base_option(parser)
    given = parser.parse_args(arguments)
    write_peft(given.adapter, given.folder, base_of(given, read_run(given.adapter)))
    print(f"{given.folder / WEIGHTS}: {(given.folder / WEIGHTS).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
