"""Train the reader on a processor: about an hour on two cores that multiply bfloat16 themselves.

    python -m training.train DATA OUT

Interrupted, it goes on from the last 500 steps when it is started again with the same OUT.
"""

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import torch
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import nll_loss

from ramify.tools.reader.network import Network, Read
from training.begin import new_network
from training.keep import WEIGHTS, restore, save
from training.material import material, part
from training.prepared import Prepared, Wanted, batches, prepare, wanted

SAVED_EVERY = 500
WARM_UP = 0.06
PHASES = {
    "broad": {
        "relation": 0.35,
        "relation_other": 0.3,
        "relation_untold": 0.6,
        "claim": 0.4,
        "agreement": 0.4,
        "condaqa_dev_test": 0.5,
        "condaqa_dev_test_other": 0.5,
    },
    "asked": {
        "squad": 1.0,
        "squad_other": 0.5,
        "linked": 1.0,
        "whole": 1.0,
        "hops": 0.5,
        "hops_step": 0.5,
        "papers": 0.5,
        "boolq_dev": 0.3,
    },
}
"""How much of a source an epoch sees, another part of it each time: first of everything, then mostly of what people asked."""
REST = {"broad": 1.0, "asked": 0.08}
"""How much of the sources that a phase does not name."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train the reader.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("out", type=Path, help="folder for weights")
    parser.add_argument("--phase", choices=PHASES, default="broad")
    parser.add_argument("--begin", type=Path, help="folder whose weights to begin with, instead of the packaged encoder's")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1.5e-4, help="highest learning rate")
    parser.add_argument("--frozen", type=int, default=1, help="lower layers that stay as they are in the packaged encoder")
    parser.add_argument("--pieces", type=int, default=2500, help="word pieces in a batch")
    parser.add_argument("--share", type=float, default=1.0, help="share of the examples, for a trial")
    parser.add_argument("--steps", type=int, help="stop after so many batches, where there is less time")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def freeze(network: Network, layers: int) -> list[tuple[str, torch.nn.Parameter]]:
    """Keep the embeddings and the lower layers as they are; give what is trained, by name."""
    frozen = [network.encoder.embeddings, *network.encoder.encoder.layer[:layers]]
    for module in frozen:
        module.requires_grad_(False)
    return [(name, parameter) for name, parameter in network.named_parameters() if parameter.requires_grad]


def optimizer_of(trained: list[tuple[str, torch.nn.Parameter]], rate: float) -> torch.optim.AdamW:
    """Give an optimizer; heads that know nothing learn faster, and biases and norms do not decay."""
    groups = []
    for head in (True, False):
        for decays in (True, False):
            chosen = [p for name, p in trained if (not name.startswith("encoder.")) == head and (p.ndim > 1) == decays]
            groups.append({"params": chosen, "lr": rate * (3 if head else 1), "weight_decay": 0.01 if decays else 0.0})
    return torch.optim.AdamW(groups)


def loss(read: Read, asked: Wanted) -> Tensor:
    """Say how wrong the network is: about the kind, and about both ends where there is a span."""
    wrong = nll_loss(read.kind, asked.kind)
    spans = asked.start >= 0
    if spans.any():
        ends = nll_loss(read.start[spans], asked.start[spans]) + nll_loss(read.end[spans], asked.end[spans])
        wrong = wrong + ends * spans.float().mean() * 0.75
    return wrong


def epoch_of(items: list[Prepared], given: argparse.Namespace, epoch: int) -> list[list[Prepared]]:
    """Choose what an epoch sees, in which order."""
    choose = random.Random(f"{given.seed}/{epoch}")
    shares, rest = PHASES[given.phase], REST[given.phase]
    seen = [item for item in items if choose.random() < shares.get(item.example.source, rest)]
    return list(batches(seen, given.pieces, choose))


def steps(items: list[Prepared], given: argparse.Namespace) -> list[list[Prepared]]:
    """Line up the batches of all epochs."""
    groups = [group for epoch in range(given.epochs) for group in epoch_of(items, given, epoch)]
    return groups[: given.steps]


def bar() -> Progress:
    """Draw the progress with its rate and what is left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, refresh_per_second=0.2)


def train(network: Network, items: list[Prepared], given: argparse.Namespace) -> Iterator[tuple[int, int, float]]:
    """Train step by step; give each step's number, how many there are, and its loss."""
    trained = freeze(network, given.frozen)
    optimizer = optimizer_of(trained, given.rate)
    groups = steps(items, given)
    total = len(groups)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARM_UP * total), max(0.0, (total - step) / (total * (1 - WARM_UP))))
    )
    done = restore(given.out, network, trained, optimizer, schedule)
    network.train()
    for number in range(done, total):
        asked = wanted(groups[number])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            read = network(asked.batch)
        wrong = loss(read, asked)
        wrong.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        torch.nn.utils.clip_grad_norm_([parameter for _, parameter in trained], 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        if (number + 1) % SAVED_EVERY == 0 or number + 1 == total:
            save(given.out, network, trained, optimizer, number + 1)
        yield number + 1, total, wrong.item()


def main() -> None:
    """Train, and keep the weights."""
    given = arguments()
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    examples = [example for example in material(given.data) if part(example) == "train"]
    if given.share < 1:
        examples = random.Random(given.seed).sample(examples, round(len(examples) * given.share))
    items = prepare(examples)
    print(f"{len(items)} examples of {len(examples)}", flush=True)
    network = new_network()
    if given.begin:
        network.load_state_dict(load_file(given.begin / WEIGHTS))
    smooth = 0.0
    with bar() as progress:
        task = progress.add_task("training")
        for number, total, wrong in train(network, items, given):
            smooth = 0.98 * smooth + 0.02 * wrong if smooth else wrong
            progress.update(task, completed=number, total=total, description=f"loss {smooth:.3f}")
            if number % 100 == 0:
                print(f"step {number} of {total}: loss {smooth:.3f}", flush=True)


if __name__ == "__main__":
    main()
