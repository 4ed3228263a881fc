"""Train the reader: about an hour on two cores with bfloat16 support, minutes on a GPU.

    python -m plugins.embedded.training.train DATA OUT

An interrupted run resumes from its last saved state when it is started again with the same OUT.
"""

import argparse
import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, nll_loss

from plugins.embedded.training.example import Example, shorten_context
from plugins.embedded.training.material import load_material, part_of_example
from plugins.embedded.training.network import ENCODERS, WEIGHTS, make_low_rank, new_network, show_progress, train_steps
from plugins.embedded.training.phases import PHASES, draw_examples, phase_sources
from plugins.embedded.training.prepared import EncodedExample, TargetBatch, collate_targets, encode_examples, group_batches
from ramify.embedded.reader.network import Network, ReaderOutput
from ramify.embedded.reader.reading import SMALL
from ramify.tools.embeddings.local_encoders import cpu_has_bfloat16
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM

WARM_UP_SHARE = 0.06


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train the reader.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("out", type=Path, help="folder for weights")
    parser.add_argument("--trunk", choices=ENCODERS, default=PACKAGED_MINILM.name, help="encoder that the reader is put on")
    parser.add_argument("--phase", choices=PHASES, default="broad")
    parser.add_argument(
        "--begin",
        type=Path,
        help="folder whose weights to begin with, instead of the packaged encoder's; `shipped` for the package's own",
    )
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1.5e-4, help="highest learning rate")
    parser.add_argument("--frozen", type=int, default=1, help="lower layers that stay as they are in the encoder")
    parser.add_argument("--rank", type=int, help="of the other layers, train only a change of this rank to each matrix")
    parser.add_argument("--pieces", type=int, default=2500, help="word pieces in a batch")
    parser.add_argument("--window", type=int, help="cut contexts to so many characters around the answer, where there is less time")
    parser.add_argument("--share", type=float, default=1.0, help="share of the examples, for a trial")
    parser.add_argument("--steps", type=int, help="stop after so many batches, where there is less time")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def freeze_layers(network: Network, layers: int, rank: int | None = None) -> list[tuple[str, torch.nn.Parameter]]:
    """Freeze the embeddings and lower layers, with `rank` also the others but for low-rank updates; return the trained parameters."""
    if rank is not None:
        network.encoder.requires_grad_(False)
        for layer in list(network.encoder.layers)[layers:]:
            make_low_rank(layer, rank)
    frozen = [network.encoder.embeddings, *list(network.encoder.layers)[:layers]]
    for module in frozen:
        module.requires_grad_(False)
    return [(name, parameter) for name, parameter in network.named_parameters() if parameter.requires_grad]


def create_optimizer(trained: list[tuple[str, torch.nn.Parameter]], rate: float) -> torch.optim.AdamW:
    """Return an optimizer with a higher learning rate for the heads, and without weight decay for biases and norms."""
    groups = []
    for head in (True, False):
        for decays in (True, False):
            chosen = [p for name, p in trained if (not name.startswith("encoder.")) == head and (p.ndim > 1) == decays]
            groups.append({"params": chosen, "lr": rate * (3 if head else 1), "weight_decay": 0.01 if decays else 0.0})
    return torch.optim.AdamW(groups)


def reader_loss(read: ReaderOutput, asked: TargetBatch) -> Tensor:
    """Return the loss: of the kind, of start and end if there is a span, and of the relevance."""
    wrong = nll_loss(read.kind, asked.kind, ignore_index=-1) if (asked.kind >= 0).any() else read.kind.sum() * 0
    spans, labeled = asked.start >= 0, asked.bears >= 0
    if labeled.any():
        wrong = wrong + binary_cross_entropy_with_logits(read.relevance[labeled], asked.bears[labeled].float())
    if spans.any():
        ends = nll_loss(read.start[spans], asked.start[spans]) + nll_loss(read.end[spans], asked.end[spans])
        wrong = wrong + ends * spans.float().mean() * 0.75
    return wrong


def plan_batches(examples: Sequence[Example], given: argparse.Namespace) -> list[list[EncodedExample]]:
    """Return the batches of all epochs; only examples that are used are tokenized."""
    draws = [random.Random(f"{given.seed}/{epoch}") for epoch in range(given.epochs)]
    seen = [draw_examples(examples, given.phase, draw) for draw in draws]
    cut = {item.example: item for item in encode_examples(list(dict.fromkeys(itertools.chain(*seen))), ENCODERS[given.trunk])}
    groups = [
        group
        for draw, some in zip(draws, seen, strict=True)
        for group in group_batches([cut[example] for example in some if example in cut], given.pieces, draw)
    ]
    return groups[: given.steps]


def train(network: Network, groups: Sequence[Sequence[EncodedExample]], given: argparse.Namespace) -> Iterator[tuple[int, int, float]]:
    """Train; return an iterator of each step's number, the total and the loss."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trained = freeze_layers(network, given.frozen, given.rank)
    network.to(device).train()
    optimizer = create_optimizer(trained, given.rate)
    total = len(groups)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / (WARM_UP_SHARE * total), max(0.0, (total - step) / (total * (1 - WARM_UP_SHARE))))
    )

    def wrong(number: int) -> Tensor:
        asked = collate_targets(groups[number], device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda" or cpu_has_bfloat16()):
            read = network(asked.batch)
        return reader_loss(read, asked)

    return train_steps(given.out, network, trained, optimizer, schedule, total, wrong)


def main() -> None:
    """Train and save the weights."""
    given = parse_arguments()
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    examples = [example for example in load_material(given.data, phase_sources(given.phase)) if part_of_example(example) == "train"]
    if given.share < 1:
        examples = random.Random(given.seed).sample(examples, round(len(examples) * given.share))
    if given.window:
        examples = [shorten_context(example, given.window) for example in examples]
    groups = plan_batches(examples, given)
    print(f"{sum(map(len, groups))} examples in {len(groups)} batches, drawn from {len(examples)}", flush=True)
    network = new_network(ENCODERS[given.trunk])
    if given.begin == Path("shipped"):
        network.load_state_dict({name: weight.float() for name, weight in SMALL.load().state_dict().items()})
    elif given.begin:
        network.load_state_dict(load_file(given.begin / WEIGHTS))
    show_progress(train(network, groups, given))


if __name__ == "__main__":
    main()
