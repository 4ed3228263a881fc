"""Train a LoRA adapter of a language model whose weights are read from its GGUF file.

    python -m plugins.embedded.training.llm.lora MODEL.gguf EXAMPLES.jsonl OUT
    python -m plugins.embedded.training.llm.lora MODEL.gguf PAIRS.jsonl OUT --pairs --start ADAPTER.safetensors --rate 1e-5

With `--pairs` it learns to prefer a chosen reply to a rejected one (DPO, Rafailov et al. 2023), else to write the reply. An interrupted run
goes on from its last saved state when it is started again with the same OUT.
"""

import argparse
import hashlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, logsigmoid

from plugins.embedded.training.llm.base import load_network, load_tokenizer
from plugins.embedded.training.llm.rows import Tokens, collate, encode, encode_pair, pack, plan_pairs, plan_rows, read_examples, read_pairs

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


def copy_weights(parameters: Mapping[str, nn.Parameter], weights: Mapping[str, Tensor]) -> None:
    """Give the updates the weights of a trained adapter."""
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])


def reply_losses(network: Any, examples: Sequence[Tokens]) -> Tensor:
    """Return the loss of each example of a row, summed over its reply's tokens."""
    weights = next(network.parameters())
    row = collate(examples, weights.dtype, weights.device)
    states = network.model(input_ids=row.ids, position_ids=row.positions, attention_mask=row.mask, use_cache=False).last_hidden_state
    losses = cross_entropy(network.lm_head(states[0, row.states]).float(), row.targets, reduction="none")
    return torch.stack([part.sum() for part in torch.split(losses, [example.replied for example in examples])])


def preference(network: nn.Module, pair: Sequence[Tokens]) -> Tensor:
    """Return the log of how much more probable the chosen reply of a pair is than the rejected one."""
    losses = reply_losses(network, pair)
    return losses[1] - losses[0]


def measure(network: nn.Module, examples: Iterable[tuple[str, Tokens]], length: int) -> str:
    """Return the loss a token of the replies of examples, by the names of their prompts, as text."""
    by_prompt: dict[str, list[Tokens]] = defaultdict(list)
    for name, tokens in examples:
        by_prompt[name].append(tokens)
    losses = {}
    with torch.no_grad():
        for name, some in sorted(by_prompt.items()):
            total = sum(reply_losses(network, row).sum().item() for row in pack(some, length))
            losses[name] = total / sum(tokens.replied for tokens in some)
    return ", ".join(f"{name} {loss:.4f}" for name, loss in losses.items())


def rate_at(progress: float) -> float:
    """Return the learning rate as a share of the highest: it rises at the beginning and then falls with a cosine."""
    falling = LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * min(progress, 1))) / 2
    return min(progress / WARM_UP_SHARE + 0.01, falling)


class Run:
    """A run of training: its parameters, optimiser, and what it has done."""

    def __init__(self, folder: Path, parameters: dict[str, nn.Parameter], rank: int, identity: str) -> None:
        """Prepare a run; SystemExit if the folder has the state of another one."""
        self.folder, self.parameters = folder, parameters
        self.metadata = {"rank": str(rank), "run": identity}
        if (folder / STATE).is_file():
            with safe_open(folder / STATE, "pt") as file:
                if file.metadata() != self.metadata:
                    raise SystemExit(f"{folder} has the state of a run with other examples or options: name another folder")
        self.optimizer = torch.optim.AdamW(parameters.values(), weight_decay=0.0)
        self.steps, self.seconds = 0, 0.0

    def save(self) -> None:
        """Write the state to go on from, and the adapter in float16; the old files stay until the new ones are complete."""
        state = {"steps": torch.tensor(self.steps), "seconds": torch.tensor(self.seconds)}
        for name, parameter in self.parameters.items():
            state[name] = parameter.detach()
            state |= {f"{name}/{key}": value for key, value in self.optimizer.state[parameter].items()}
        adapter = {name: state[name].half() for name in self.parameters}
        for file, tensors in ((STATE, state), (ADAPTER, adapter)):
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, self.folder / f"{file}.new", self.metadata)
            (self.folder / f"{file}.new").replace(self.folder / file)

    def restore(self) -> None:
        """Go on from the state in the folder, if it has one."""
        if not (self.folder / STATE).is_file():
            return
        state = load_file(self.folder / STATE)
        self.steps, self.seconds = int(state["steps"]), float(state["seconds"])
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(state[name])
                moments = {key: state[f"{name}/{key}"] for key in MOMENTS}
                self.optimizer.state[parameter] = {key: m if key == "step" else m.to(parameter.device) for key, m in moments.items()}


@dataclass(frozen=True)
class Lessons:
    """What is learned in which order: rows, the loss of the row of a number, and its share in the loss of a step."""

    rows: Sequence[Sequence[Tokens]]
    loss: Callable[[int], Tensor]
    share: Callable[[int], int]


def reply_lessons(network: nn.Module, rows: Sequence[Sequence[Tokens]]) -> Lessons:
    """Return rows whose replies are learned, each token of a step alike."""

    def replied(number: int) -> int:
        return sum(example.replied for example in rows[number])

    return Lessons(rows, lambda number: reply_losses(network, rows[number]).sum(), replied)


def preference_lessons(network: nn.Module, pairs: Sequence[Sequence[Tokens]], beta: float) -> Lessons:
    """Return pairs of which the chosen reply shall become more probable, relative to the network as it is now."""
    with torch.no_grad():
        now = {key: preference(network, pair) for key, pair in {id(pair): pair for pair in pairs}.items()}  # each epoch has the same ones

    def preferred(number: int) -> Tensor:
        pair = pairs[number]
        return -logsigmoid(beta * (preference(network, pair) - now[id(pair)]))

    return Lessons(pairs, preferred, lambda _: 1)


def train(lessons: Lessons, run: Run, given: argparse.Namespace) -> Iterator[tuple[float, int]]:
    """Train until the rows or the minutes are over, saving now and then; yield the loss and the tokens of each step."""
    total, budget = math.ceil(len(lessons.rows) / given.rows), given.minutes * 60
    saved = time.monotonic()
    began = saved - run.seconds
    while (progress := max(run.steps / total, run.seconds / budget)) < 1:
        batch = range(len(lessons.rows))[run.steps * given.rows :][: given.rows]
        shares = sum(lessons.share(number) for number in batch)
        loss = 0.0
        for number in batch:
            wrong = lessons.loss(number) / shares
            wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
            loss += wrong.item()
        nn.utils.clip_grad_norm_(run.parameters.values(), 1.0, error_if_nonfinite=True)
        for group in run.optimizer.param_groups:
            group["lr"] = given.rate * rate_at(progress)
        run.optimizer.step()
        run.optimizer.zero_grad(set_to_none=True)
        run.steps, run.seconds = run.steps + 1, time.monotonic() - began
        if time.monotonic() - saved > given.save * 60:
            run.save()
            saved = time.monotonic()
        yield loss, sum(len(example.ids) for number in batch for example in lessons.rows[number])
    run.save()


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train a LoRA adapter of a language model.")
    parser.add_argument("model", type=Path, help="GGUF file of the model, of the architecture qwen2 or llama")
    parser.add_argument("examples", type=Path, help="file of JSON lines with messages and reply, or chosen and rejected")
    parser.add_argument("out", type=Path, help="folder for the adapter and the state to go on from")
    parser.add_argument("--pairs", action="store_true", help="the examples are pairs with a chosen and a rejected reply")
    parser.add_argument("--beta", type=float, default=0.1, help="how strongly pairs are held to the probabilities at the start")
    parser.add_argument("--start", type=Path, help="file of an adapter to start from, such as for pairs")
    parser.add_argument("--kept-out", type=Path, help="file of examples whose loss is measured before and after")
    parser.add_argument("--measured", type=int, default=100, help="how many of them, of those that fit into a row")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=2e-4, help="highest learning rate")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, help="end, and bring the learning rate down, after so many steps")
    parser.add_argument("--minutes", type=float, default=math.inf, help="the same after so many minutes, without interruptions")
    parser.add_argument(
        "--length",
        type=int,
        default=2048,
        help="tokens in a row, which several examples share, and of one reply of a pair with what it answers",
    )
    parser.add_argument("--rows", type=int, default=8, help="rows in a step, one after the other")
    parser.add_argument("--save", type=float, default=2, help="minutes between saved states")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.minutes <= 0 or (given.steps is not None and given.steps < 1):
        parser.error("--minutes and --steps must be above 0")
    return given


def identify(given: argparse.Namespace) -> str:
    """Return what must be the same for a run to go on."""
    options = {name: getattr(given, name) for name in ("rank", "rate", "epochs", "length", "rows", "seed", "pairs", "beta")}
    files = {name: hash_file(getattr(given, name)) for name in ("examples", "start")}
    return json.dumps({**options, **files, "model": given.model.name})


def hash_file(path: Path | None) -> str | None:
    """Return the SHA-256 of a file; None without one."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path else None


def default_device() -> tuple[torch.device, torch.dtype]:
    """Return the GPU with bfloat16 if there is one, else the processor, with bfloat16 if it computes with it."""
    if torch.cuda.is_available():
        torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew for each length of a row
        return torch.device("cuda"), torch.bfloat16
    return torch.device("cpu"), torch.bfloat16 if torch.ops.mkldnn._is_mkldnn_bf16_supported() else torch.float32


def plan(tokenizer: Any, given: argparse.Namespace) -> list[list[Tokens]]:
    """Return the rows to train on, and print how many there are."""
    if given.pairs:
        encoded = [encode_pair(tokenizer, pair) for pair in read_pairs(given.examples)]
    else:
        encoded = [[encode(tokenizer, example)] for example in read_examples(given.examples)]
    fitting = [some for some in encoded if max(len(example.ids) for example in some) <= given.length]
    if given.pairs:
        rows = plan_pairs(fitting, given.epochs, given.seed)
    else:
        rows = plan_rows([example for (example,) in fitting], given.length, given.epochs, given.seed)
    rows = rows[: given.steps and given.steps * given.rows]
    tokens = sum(len(example.ids) for row in rows for example in row)
    print(f"{len(fitting)} examples, {len(encoded) - len(fitting)} left out as too long; {tokens} tokens in {len(rows)} rows", flush=True)
    if not rows:
        raise SystemExit(f"no example of {given.examples} has at most {given.length} tokens: raise --length")
    return rows


def kept_out_examples(tokenizer: Any, given: argparse.Namespace) -> list[tuple[str, Tokens]]:
    """Return the first examples that are measured, with the names of their prompts."""
    encoded = ((example["prompt"], encode(tokenizer, example)) for example in read_examples(given.kept_out))
    return list(islice(((name, tokens) for name, tokens in encoded if len(tokens.ids) <= given.length), given.measured))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and save the adapter."""
    given = parse_arguments(arguments)
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = load_tokenizer(given.model)
    rows = plan(tokenizer, given)
    device, dtype = default_device()
    network = load_network(given.model, dtype)
    parameters = add_low_rank(network, given.rank)
    if given.start:
        copy_weights(parameters, load_file(given.start))
    run = Run(given.out, parameters, given.rank, identify(given))
    network.to(device)
    lessons = preference_lessons(network, rows, given.beta) if given.pairs else reply_lessons(network, rows)
    kept_out = kept_out_examples(tokenizer, given) if given.kept_out else []
    run.restore()
    if kept_out and not run.steps:
        print(f"loss of {len(kept_out)} examples kept out, before: {measure(network, kept_out, given.length)}", flush=True)
    before, done = time.monotonic(), 0
    for loss, size in train(lessons, run, given):
        done += size
        speed = done / (time.monotonic() - before)
        print(f"step {run.steps} of {math.ceil(len(rows) / given.rows)}: loss {loss:.4f}, {speed:.0f} tokens a second", flush=True)
    if kept_out:
        print(f"loss of {len(kept_out)} examples kept out, after: {measure(network, kept_out, given.length)}", flush=True)
    print(f"{given.out / ADAPTER} after {run.steps} steps and {run.seconds / 60:.1f} minutes", flush=True)


if __name__ == "__main__":
    main()
