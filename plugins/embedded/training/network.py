"""The network in training: initialisation, low-rank updates of frozen layers (LoRA, Hu et al. 2021), steps, and saved states."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from ramify.embedded.encoders.e5 import MULTILINGUAL_E5
from ramify.embedded.encoders.mpnet import ALL_MPNET
from ramify.embedded.reader.large import DOWN_SUFFIX, UP_SUFFIX, apply_low_rank
from ramify.embedded.reader.network import Network
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, Pretrained

ENCODERS: Final = {trunk.name: trunk for trunk in (PACKAGED_MINILM, MULTILINGUAL_E5, ALL_MPNET)}
"""The encoders that a reader can be put on, by name."""


def new_network(trunk: Pretrained = PACKAGED_MINILM) -> Network:
    """Return a network for training, without dropout."""
    layers = trunk.new_layers()
    network = Network(layers.shape)
    network.encoder = layers
    return network


_BASE = ".base."


class LowRank(nn.Module):
    """A frozen linear layer with a trainable low-rank update, initially zero."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, base.in_features).uniform_(-1, 1) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, states: Tensor) -> Tensor:
        """Return the output of the layer plus its low-rank update."""
        result: Tensor = self.base(states) + states @ self.down.T @ self.up.T
        return result


def make_low_rank(layers: nn.Module, rank: int) -> None:
    """Replace every linear layer in a module by a `LowRank`; all other parameters are frozen."""
    layers.requires_grad_(False)
    linear = [(name, module) for name, module in layers.named_modules() if isinstance(module, nn.Linear)]
    for name, module in linear:
        parent, _, own = name.rpartition(".")
        layers.get_submodule(parent).add_module(own, LowRank(module, rank))


def merge_low_rank(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return weights with their low-rank updates added."""
    whole = {name.replace(_BASE, "."): weight for name, weight in weights.items() if not name.endswith((DOWN_SUFFIX, UP_SUFFIX))}
    return whole | apply_low_rank(whole, weights)


WEIGHTS = "weights.safetensors"
_MOMENTS = "moments.safetensors"
_STEP = "steps done"

NamedParameters = list[tuple[str, torch.nn.Parameter]]
SAVE_INTERVAL = 500
"""Steps between saved states."""


def train_steps(
    folder: Path,
    network: nn.Module,
    trained: NamedParameters,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LambdaLR,
    total: int,
    loss: Callable[[int], Tensor],
) -> Iterator[tuple[int, int, float]]:
    """Train, resuming from the state in a folder; yield for each step its number, the total and the loss."""
    for number in range(restore_state(folder, network, trained, optimizer, schedule), total):
        wrong = loss(number)
        wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        nn.utils.clip_grad_norm_([parameter for _, parameter in trained], 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        if (number + 1) % SAVE_INTERVAL == 0 or number + 1 == total:
            save_state(folder, network, trained, optimizer, number + 1)
        yield number + 1, total, wrong.item()


def show_progress(steps: Iterable[tuple[int, int, float]]) -> None:
    """Run the steps, showing progress and the smoothed loss."""
    smooth = 0.0
    with training_progress() as progress:
        task = progress.add_task("training")
        for number, total, wrong in steps:
            smooth = 0.98 * smooth + 0.02 * wrong if smooth else wrong
            progress.update(task, completed=number, total=total, description=f"loss {smooth:.3f}")
            if number % 100 == 0:
                print(f"step {number} of {total}: loss {smooth:.3f}", flush=True)


def training_progress() -> Progress:
    """Return a progress bar with elapsed and remaining time."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, refresh_per_second=0.2)


def save_state(folder: Path, network: torch.nn.Module, trained: NamedParameters, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write the weights and the optimizer's state to resume from; the old files stay until the new ones are complete."""
    moments: dict[str, Tensor] = {_STEP: torch.tensor(step)}
    for name, parameter in trained:
        for key, value in optimizer.state[parameter].items():
            moments[f"{name}/{key}"] = value
    for file, tensors in ((WEIGHTS, network.state_dict()), (_MOMENTS, moments)):
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / f"{file}.new")
    for file in (WEIGHTS, _MOMENTS):
        (folder / f"{file}.new").replace(folder / file)


def restore_state(
    folder: Path,
    network: torch.nn.Module,
    trained: NamedParameters,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LambdaLR,
) -> int:
    """Restore the state in a folder; return the number of steps done, 0 for a new run."""
    if not (folder / _MOMENTS).is_file():
        return 0
    network.load_state_dict(load_file(folder / WEIGHTS))
    moments = load_file(folder / _MOMENTS)
    for name, parameter in trained:
        optimizer.state[parameter] = {
            key: moments[f"{name}/{key}"] for key in ("step", "exp_avg", "exp_avg_sq") if f"{name}/{key}" in moments
        }
    step = int(moments[_STEP])
    schedule.last_epoch = step
    for group, base, rate in zip(optimizer.param_groups, schedule.base_lrs, schedule.lr_lambdas, strict=True):
        group["lr"] = base * rate(step)
    return step
