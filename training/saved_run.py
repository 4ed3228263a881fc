"""Keep a training run on disk, so that it can be interrupted: weights and the optimizer's moments, as safetensors."""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

WEIGHTS = "weights.safetensors"
_MOMENTS = "moments.safetensors"
_STEP = "steps done"

Trained = list[tuple[str, torch.nn.Parameter]]


def save(folder: Path, network: torch.nn.Module, trained: Trained, optimizer: torch.optim.Optimizer, step: int) -> None:
    """Write the weights and what it takes to go on; the old files stay until the new ones are whole."""
    moments: dict[str, Tensor] = {_STEP: torch.tensor(step)}
    for name, parameter in trained:
        for key, value in optimizer.state[parameter].items():
            moments[f"{name}/{key}"] = value
    for file, tensors in ((WEIGHTS, network.state_dict()), (_MOMENTS, moments)):
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / f"{file}.new")
    for file in (WEIGHTS, _MOMENTS):
        (folder / f"{file}.new").replace(folder / file)


def restore(
    folder: Path, network: torch.nn.Module, trained: Trained, optimizer: torch.optim.Optimizer, schedule: torch.optim.lr_scheduler.LambdaLR
) -> int:
    """Go on where a run was left; give how many steps it had done, 0 for a new one."""
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
