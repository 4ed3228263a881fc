"""Train the writer on a processor.

    python -m plugins.embedded.training.writing.train DATA OUT [--epochs 3]

Interrupted, it goes on from the last 500 steps when it is started again with the same OUT.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from plugins.embedded.training.network import WEIGHTS, show_progress, train_steps, training_progress
from plugins.embedded.training.writing.material import material
from plugins.embedded.training.writing.sequences import Batch, Sequenced, batch, common_words, sequenced
from plugins.embedded.training.writing.written import part
from ramify.embedded.splitting.network import SOURCE_LAYERS, EncodedSource, Writer
from ramify.embedded.splitting.writing import Vocabulary, encode_words, load_splitter
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM

WORDS = "words.json"
SHIPPED = Path("shipped")
WARM_UP = 0.05
_AT_ONCE = 64


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train the writer.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("out", type=Path, help="folder for weights")
    parser.add_argument("--begin", type=Path, help="folder whose weights to begin with; `shipped` for the package's own")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--rate", type=float, default=6e-4, help="highest learning rate")
    parser.add_argument("--size", type=int, default=48, help="examples in a batch")
    parser.add_argument("--share", type=float, default=1.0, help="share of the examples, for a trial")
    parser.add_argument(
        "--dropped", type=float, default=0.1, help="share of the source's states that are set to zero, against learning by heart"
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def all_states(items: Sequence[Sequenced]) -> list[Tensor]:
    """Encode every source once: the encoder does not learn."""
    encoder, states = PACKAGED_MINILM.new_layers(), [torch.empty(0)] * len(items)
    order = sorted(range(len(items)), key=lambda number: len(items[number].text.ids))
    with torch.inference_mode(), training_progress() as progress:
        for begin in progress.track(range(0, len(order), _AT_ONCE), description="encoding"):
            some = order[begin : begin + _AT_ONCE]
            for number, state in zip(some, encode_words([items[number].text for number in some], encoder, SOURCE_LAYERS), strict=True):
                states[number] = state.half()
    return states


def groups(items: Sequence[Sequenced], given: argparse.Namespace) -> list[list[int]]:
    """Line up batches of like length for all epochs."""
    made: list[list[int]] = []
    for epoch in range(int(given.epochs + 0.999)):
        choose = random.Random(f"{given.seed}/{epoch}")
        order = sorted(
            range(len(items)), key=lambda number: len(items[number].text.words) + len(items[number].tokens) + choose.random() * 12
        )
        some = [order[begin : begin + given.size] for begin in range(0, len(order), given.size)]
        choose.shuffle(some)
        made += some
    return made[: int(len(made) * given.epochs / int(given.epochs + 0.999))]


def loss(writer: Writer, given: Batch, dropped: float) -> Tensor:
    """Say how unlikely the writer finds what is right: all right tokens of a step count together."""
    states = given.states
    if dropped:
        states = states * (torch.rand(*states.shape[:2], 1) > dropped / 2) * (torch.rand_like(states) > dropped) / (1 - dropped)
    source: EncodedSource = writer.encode_source(states, given.parts, given.mask)
    scores, _ = writer(given.tokens, source)
    likely = scores.log_softmax(-1).masked_fill(~given.right, -torch.inf).logsumexp(-1)
    wrong: Tensor = -likely[given.told].mean()
    return wrong


def train(writer: Writer, items: list[Sequenced], states: list[Tensor], given: argparse.Namespace) -> Iterator[tuple[int, int, float]]:
    """Train step by step; give each step's number, how many there are, and its loss."""
    lined = groups(items, given)
    total = len(lined)
    optimizer = torch.optim.AdamW(writer.parameters(), lr=given.rate, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) / (WARM_UP * total), max(0.02, 1 - step / total)))

    def wrong(number: int) -> Tensor:
        some = lined[number]
        return loss(writer, batch([items[n] for n in some], [states[n] for n in some], writer.vocabulary), given.dropped)

    return train_steps(given.out, writer, list(writer.named_parameters()), optimizer, schedule, total, wrong)


def known_words(folder: Path) -> Vocabulary:
    """Read the vocabulary of a run, or of the package."""
    if folder == SHIPPED:
        return load_splitter().vocabulary
    return Vocabulary(tuple(json.loads((folder / WORDS).read_text(encoding="utf-8"))))


def carried(folder: Path, writer: Writer, words: Vocabulary) -> dict[str, Tensor]:
    """Return the weights of a run, or of the package, for another vocabulary; words that it lacks begin as in a new writer."""
    known = known_words(folder)
    weights = load_splitter().writer.state_dict() if folder == SHIPPED else load_file(folder / WEIGHTS)
    rows = [(row, known.numbers[token]) for row, token in enumerate(words.tokens) if token in known.numbers]
    here, there = (torch.tensor(numbers) for numbers in zip(*rows, strict=True))
    made = {name: weight.float() for name, weight in weights.items()}
    for name in ("word.weight", "bias"):
        made[name] = writer.state_dict()[name].index_copy(0, here, made[name][there])
    return made


def main() -> None:
    """Train, and keep the weights."""
    given = arguments()
    torch.manual_seed(given.seed)
    given.out.mkdir(parents=True, exist_ok=True)
    examples = [example for example in material(given.data) if part(example) == "train"]
    if given.share < 1:
        examples = random.Random(given.seed).sample(examples, round(len(examples) * given.share))
    words = common_words(examples)
    (given.out / WORDS).write_text(json.dumps(words.words, ensure_ascii=False), encoding="utf-8")
    items = [item for item in (sequenced(example, words) for example in examples) if item]
    print(f"{len(items)} examples of {len(examples)}, {len(words)} words", flush=True)
    states = all_states(items)
    writer = Writer(len(words))
    if given.begin:
        writer.load_state_dict(carried(given.begin, writer, words))
    show_progress(train(writer, items, states, given))


if __name__ == "__main__":
    main()
