"""Compare trained weights on the examples held out for model selection: phases, learning rates, lengths of training.

python -m plugins.embedded.training.choose DATA OUT [OUT ...] [--trunk e5-multilingual]

It prints scores of answers, and of how well the predicted relevance separates relevant from irrelevant passages.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors.torch import load_file

from plugins.embedded.training.example import Example
from plugins.embedded.training.material import load_material, part_of_example
from plugins.embedded.training.network import ENCODERS, WEIGHTS, merge_low_rank, new_network
from plugins.embedded.training.prepared import group_by_length
from ramify.embedded.reader.network import Network
from ramify.embedded.reader.reading import PassageReading, encode_pairs, read_pairs
from ramify.lab.metrics import exact_match, token_f1
from ramify.tools.embeddings.pretrained import PACKAGED_MINILM, Pretrained


class ScoredRelevance(NamedTuple):
    """The predicted relevance of a passage, and whether it is relevant."""

    relevance: float
    bears: bool


def by_source(read: Iterable[tuple[Example, float]]) -> dict[str, list[ScoredRelevance]]:
    """Return the scored passages of each source, together with those of its `_other` source."""
    scored: dict[str, list[ScoredRelevance]] = defaultdict(list)
    for example, relevance in read:
        if example.bears is not None:
            scored[example.source.removesuffix("_other")].append(ScoredRelevance(relevance, example.bears))
    return scored


def accuracy(some: Sequence[ScoredRelevance]) -> float:
    """Return the accuracy with a threshold of 0.5."""
    return sum((scored.relevance >= 0.5) == scored.bears for scored in some) / len(some)


def auc(some: Sequence[ScoredRelevance]) -> float | None:
    """Return the area under the ROC curve; None if all passages are relevant or none."""
    bearing, others = (np.sort([scored.relevance for scored in some if scored.bears == bears]) for bears in (True, False))
    if not len(bearing) or not len(others):
        return None
    below = (np.searchsorted(others, bearing, side) for side in ("left", "right"))  # equal ones count half
    return float(sum(counts.mean() for counts in below)) / (2 * len(others))


_MAX_EXAMPLES = 300


def main() -> None:
    """Print the scores of each folder."""
    parser = argparse.ArgumentParser(description="Compare trained weights of the reader.")
    parser.add_argument("data", type=Path, help="folder with the training sets")
    parser.add_argument("out", type=Path, nargs="+", help="folders that training wrote")
    parser.add_argument("--trunk", choices=ENCODERS, default=PACKAGED_MINILM.name, help="encoder that they are put on")
    parser.add_argument("--most", type=int, default=_MAX_EXAMPLES, help="examples of a source")
    given = parser.parse_args()
    examples = choose_examples(given.data, given.most)
    for folder in given.out:
        network = new_network(ENCODERS[given.trunk])
        network.load_state_dict(merge_low_rank(load_file(folder / WEIGHTS)))
        print(folder)
        for line in format_scores(examples, read_examples(network.eval(), examples, ENCODERS[given.trunk])):
            print(f"  {line}")


def choose_examples(data: Path, most: int) -> list[Example]:
    """Return a sample of the examples of every source."""
    sources: dict[str, list[Example]] = defaultdict(list)
    for example in load_material(data):
        if part_of_example(example) == "choose":
            sources[example.source].append(example)
    return [example for source, some in sources.items() for example in random.Random(source).sample(some, min(most, len(some)))]


def read_examples(network: Network, examples: Sequence[Example], trunk: Pretrained = PACKAGED_MINILM) -> list[PassageReading]:
    """Return the readings of examples, batched by length."""
    cut = encode_pairs([example.question for example in examples], [example.context for example in examples], trunk)
    readings: dict[int, PassageReading] = {}
    for group in group_by_length([len(pair) for pair in cut]):
        readings.update(zip(group, read_pairs(network, [cut[number] for number in group]), strict=True))
    return [readings[number] for number in range(len(cut))]


def format_scores(examples: Sequence[Example], readings: Sequence[PassageReading]) -> Iterator[str]:
    """Yield lines with the scores of each source: of answers, then of relevance."""
    scores: dict[str, list[float]] = defaultdict(list)
    for example, reading in zip(examples, readings, strict=True):
        for name, value in score_reading(example, reading):
            scores[f"{example.source} {name}"].append(value)
    for name, values in sorted(scores.items()):
        yield f"{name:32} {100 * sum(values) / len(values):5.1f} of {len(values)}"
    grouped = by_source(zip(examples, [reading.relevance for reading in readings], strict=True))
    for name, some in sorted(grouped.items()):
        area = auc(some)
        yield f"{name + ' relevance':32} {100 * accuracy(some):5.1f} of {len(some)}" + ("" if area is None else f", AUC {area:.3f}")


def score_reading(example: Example, reading: PassageReading) -> Iterator[tuple[str, float]]:
    """Yield the scores of one reading: exact match and F1 of spans, accuracy of yes/no, and of no answer."""
    none = 1 - reading.span - reading.yes - reading.no
    if example.kind == "none":
        yield "none", float(none > max(reading.span, reading.yes, reading.no))
    elif example.kind == "span":
        answer = next((example.context[spot.start : spot.end] for spot in reading.text_spans), "")
        golds = [example.context[start:end] for start, end in example.spans]
        yield "exact match", exact_match(answer, golds)
        yield "F1", token_f1(answer, golds)
    elif example.kind:
        yield "yes or no", float((reading.yes > reading.no) == (example.kind == "yes"))


if __name__ == "__main__":
    main()
