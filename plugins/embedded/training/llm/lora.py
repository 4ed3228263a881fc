"""Train a LoRA adapter of a language model whose weights are read from its GGUF file.

    python -m plugins.embedded.training.llm.lora MODEL.gguf EXAMPLES.jsonl OUT

An interrupted run goes on from its last saved state when it is started again with the same OUT.
"""

import argparse
import hashlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from plugins.embedded.training.llm.base import load_network, load_tokenizer
from plugins.embedded.training.llm.rows import Row, Tokens, collate, encode, plan_rows, read_examples

ADAPTER = "adapter.safetensors"
STATE = "state.safetensors"
WARM_UP_SHARE = 0.03
LAST_RATE = 0.05
"""The learning rate at the end, as a share of the highest."""
MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class LowRank(nn.Module):
    """A frozen linear layer with a trainable update of low rank, initially zero (LoRA, Hu et al. 2021), in float32."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.empty(rank, base.in_features).uniform_(-1, 1) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = 1.0

    def forward(self, states: Tensor) -> Tensor:
        """Return the output of the layer plus that of the update."""
        update = states @ self.down.T.to(states.dtype) @ self.up.T.to(states.dtype)
        result: Tensor = self.base(states) + self.scale * update
        return result


def add_low_rank(network: nn.Module, rank: int) -> dict[str, nn.Parameter]:
    """Put an update on every linear layer of the attention and MLPs; return its parameters by name."""
    linear = [(name, module) for name, module in network.named_modules() if isinstance(module, nn.Linear) and ".layers." in name]
    for name, module in linear:
        parent, _, own = name.rpartition(".")
        setattr(network.get_submodule(parent), own, LowRank(module, rank))
    return {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}


def reply_loss(network: Any, row: Row) -> Tensor:
    """Return the summed loss of the replies' tokens of a row."""
    states = network.model(input_ids=row.ids, position_ids=row.positions, attention_mask=row.mask, use_cache=False).last_hidden_state
    return cross_entropy(network.lm_head(states[0, row.states]).float(), row.targets, reduction="sum")


def rate_at(progress: float) -> float:
    """Return the learning rate as a share of the highest: it rises at the beginning and then falls with a cosine."""
    falling = LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * min(progress, 1))) / 2
    return min(progress / WARM_UP_SHARE + 0.01, falling)


class Run:
    """A run of training: its parameters, optimiser, and what it has done."""

    def __init__(self, folder: Path, parameters: dict[str, nn.Parameter], rank: int, identity: str) -> None:
        self.folder, self.parameters = folder, parameters
        self.metadata = {"rank": str(rank), "run": identity}
        self.optimizer = torch.optim.AdamW(parameters.values(), weight_decay=0.0)
        self.steps, self.seconds = 0, 0.0

    def save(self) -> None:
        """Write the state to go on from and the adapter; the old files stay until the new ones are complete."""
        state = {"steps": torch.tensor(self.steps), "seconds": torch.tensor(self.seconds)}
        for name, parameter in self.parameters.items():
            state[name] = parameter.detach()
            state |= {f"{name}/{key}": value for key, value in self.optimizer.state[parameter].items()}
        adapter = {name: state[name] for name in self.parameters}
        for file, tensors in ((STATE, state), (ADAPTER, adapter)):
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, self.folder / f"{file}.new", self.metadata)
            (self.folder / f"{file}.new").replace(self.folder / file)

    def restore(self) -> None:
        """Go on from the state in the folder, if it has one; SystemExit if it is of another run."""
        if not (self.folder / STATE).is_file():
            return
        with safe_open(self.folder / STATE, "pt") as file:
            if file.metadata() != self.metadata:
                raise SystemExit(f"{self.folder} has the state of a run with other examples or options: name another folder")
        state = load_file(self.folder / STATE)
        self.steps, self.seconds = int(state["steps"]), float(state["seconds"])
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(state[name])
                moments = {key: state[f"{name}/{key}"] for key in MOMENTS}
                self.optimizer.state[parameter] = {key: m if key == "step" else m.to(parameter.device) for key, m in moments.items()}


def train(network: nn.Module, run: Run, rows: Sequence[Sequence[Tokens]], given: argparse.Namespace) -> Iterator[tuple[float, int]]:
    """Train until the rows or the minutes are over, saving now and then; yield the loss a token and the tokens of each step."""
    weights = next(network.parameters())
    total, budget = math.ceil(len(rows) / given.rows), given.minutes * 60
    saved = time.monotonic()
    began = saved - run.seconds
    while (progress := max(run.steps / total, run.seconds / budget)) < 1:
        batch = rows[run.steps * given.rows :][: given.rows]
        replied = sum(example.replied for row in batch for example in row)
        loss = 0.0
        for row in batch:
            wrong = reply_loss(network, collate(row, weights.dtype, weights.device)) / replied
            wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
            loss += wrong.item()
        nn.utils.clip_grad_norm_(run.parameters.values(), 1.0)
        for group in run.optimizer.param_groups:
            group["lr"] = given.rate * rate_at(progress)
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=True)
        run.steps, run.seconds = run.steps + 1, time.monotonic() - began
        if time.monotonic() - saved > given.save * 60:
            run.save()
            saved = time.monotonic()
        yield loss, sum(len(example.ids) for row in batch for example in row)
    run.save()


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train a LoRA adapter of a language model.")
    parser.add_argument("model", type=Path, help="GGUF file of the model, of the architecture qwen2 or llama")
    parser.add_argument("examples", type=Path, help="file of JSON lines with messages and reply")
    parser.add_argument("out", type=Path, help="folder for the adapter and the state to go on from")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2e-4, help="highest learning rate")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="end, and bring the learning rate down, after so many steps")
    parser.add_argument("--minutes", type=float, default=math.inf, help="the same after so many minutes, without interruptions")
    parser.add_argument("--length", type=int, default=2048, help="tokens in a row, which several examples share")
    parser.add_argument("--rows", type=int, default=8, help="rows in a step, one after the other")
    parser.add_argument("--save", type=float, default=2, help="minutes between saved states")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def identify(given: argparse.Namespace) -> str:
    """Return what must be the same for a run to go on."""
    options = {name: getattr(given, name) for name in ("rank", "rate", "epochs", "length", "rows", "seed")}
    return json.dumps(options | {"examples": hashlib.sha256(given.examples.read_bytes()).hexdigest(), "model": given.model.name})


def default_device() -> tuple[torch.device, torch.dtype]:
    """Return the GPU with bfloat16 if there is one, else the processor, with bfloat16 if it computes with it."""
    if torch.cuda.is_available():
        return torch.device("cuda"), torch.bfloat16
    return torch.device("cpu"), torch.bfloat16 if torch.ops.mkldnn._is_mkldnn_bf16_supported() else torch.float32


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and save the adapter."""
    given = parse_arguments(arguments)
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(given.model)
    encoded = [encode(tokenizer, example) for example in read_examples(given.examples)]
    fitting = [example for example in encoded if len(example.ids) <= given.length]
    rows = plan_rows(fitting, given.length, given.epochs, given.seed)[: given.steps and given.steps * given.rows]
    tokens = sum(len(example.ids) for row in rows for example in row)
    print(f"{len(fitting)} examples, {len(encoded) - len(fitting)} left out as too long; {tokens} tokens in {len(rows)} rows", flush=True)
    device, dtype = default_device()
    network = load_network(given.model, dtype)
    run = Run(given.out, add_low_rank(network, given.rank), given.rank, identify(given))
    network.to(device)
    run.restore()
    before, done = time.monotonic(), 0
    for loss, size in train(network, run, rows, given):
        done += size
        speed = done / (time.monotonic() - before)
        print(f"step {run.steps} of {math.ceil(len(rows) / given.rows)}: loss {loss:.4f}, {speed:.0f} tokens a second", flush=True)
    print(f"{given.out / ADAPTER} after {run.steps} steps and {run.seconds / 60:.1f} minutes", flush=True)


if __name__ == "__main__":
    main()
