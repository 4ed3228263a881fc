"""Measure trained writers on the examples kept back for choosing: the kind of split, and the words of its questions.

python -m plugins.embedded.training.writing.choose DATA OUT [OUT ...] [--part measure] [--shown 3]
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from safetensors.torch import load_file

from plugins.embedded.training.network import WEIGHTS
from plugins.embedded.training.writing.material import material
from plugins.embedded.training.writing.train import known_words
from plugins.embedded.training.writing.written import Written, part
from ramify.embedded.splitting.network import Writer
from ramify.embedded.splitting.writing import REWRITE, Splitter, WriterReply
from ramify.lab.metrics import exact_match, token_f1
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM

_MOST = 120


def main() -> None:
    """Print what each of the folders scores."""
    parser = argparse.ArgumentParser(description="Measure trained writers.")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path, nargs="+")
    parser.add_argument("--part", choices=("choose", "measure"), default="choose")
    parser.add_argument("--most", type=int, default=_MOST, help="examples of a source and kind")
    parser.add_argument("--shown", type=int, default=0, help="examples of each to print")
    given = parser.parse_args()
    examples = drawn([example for example in material(given.data) if part(example) == given.part], given.most)
    for folder in given.out:
        print(folder)
        splitter = load(folder)
        for (source, how), some in sorted(examples.items()):
            replies = [told(splitter, example) for example in some]
            scores = [*map(score, some, replies)]
            means = "  ".join(f"{100 * sum(column) / len(column):5.1f}" for column in zip(*scores, strict=True))
            print(f"  {source:24} {how:8} {len(some):4}  {means}")
            for example, reply in [*zip(some, replies, strict=True)][: given.shown]:
                print(f"      {example.question}\n        {reply.kind} {reply.probability:.2f} {reply.questions}   wanted: {example.steps}")


def load(folder: Path) -> Splitter:
    """Load a trained writer."""
    words = known_words(folder)
    writer = Writer(len(words))
    writer.load_state_dict(load_file(folder / WEIGHTS))
    return Splitter(writer.eval(), words, PACKAGED_MINILM.new_layers())


def drawn(examples: Sequence[Written], most: int) -> dict[tuple[str, str], list[Written]]:
    """Draw some examples of every source and kind."""
    grouped: dict[tuple[str, str], list[Written]] = defaultdict(list)
    for example in examples:
        grouped[example.source, example.how].append(example)
    return {key: random.Random(str(key)).sample(some, min(most, len(some))) for key, some in grouped.items()}


def told(splitter: Splitter, example: Written) -> WriterReply:
    """Ask the writer."""
    return splitter.rewrite(example.question, example.history) if example.how == REWRITE else splitter.splits(example.question)[0]


def score(example: Written, reply: WriterReply) -> tuple[float, ...]:
    """Give whether the kind is right, and exact match and F1 of the questions."""
    return (float(reply.kind == example.how), *texts(example.steps, reply.questions))


def texts(wanted: Sequence[str], produced: Sequence[str]) -> Iterator[float]:
    """Compare all questions as one text."""
    gold, said = " / ".join(wanted), " / ".join(produced)
    yield exact_match(said, (gold,))
    yield token_f1(said, (gold,))


if __name__ == "__main__":
    main()
