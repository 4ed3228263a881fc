"""Compare trained weights on the examples kept back for choosing: between phases, rates, or more and less training.

python -m training.choose DATA OUT [OUT ...]
"""

import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from safetensors.torch import load_file

from ramify.evaluation.metrics.answers import exact_match, token_f1
from ramify.tools.reader.network import Network
from ramify.tools.reader.pairs import pairs
from ramify.tools.reader.reading import Reading, of_like_length, read_pairs
from training.begin import new_network
from training.example import Example
from training.keep import WEIGHTS
from training.material import material, part

_MOST = 300


def main() -> None:
    """Print what each of the folders scores."""
    examples = chosen(Path(sys.argv[1]))
    for folder in sys.argv[2:]:
        network = new_network()
        network.load_state_dict(load_file(Path(folder) / WEIGHTS))
        print(folder)
        for name, values in sorted(scores(network.eval(), examples).items()):
            print(f"  {name:32} {100 * sum(values) / len(values):5.1f} of {len(values)}")


def chosen(data: Path) -> list[Example]:
    """Draw some hundred examples of every source."""
    sources: dict[str, list[Example]] = defaultdict(list)
    for example in material(data):
        if part(example) == "choose":
            sources[example.source].append(example)
    return [example for source, some in sources.items() for example in random.Random(source).sample(some, min(_MOST, len(some)))]


def scores(network: Network, examples: list[Example]) -> dict[str, list[float]]:
    """Score each source: spans by exact match and F1, yes and no, and whether what is not there is seen not to be there."""
    found: dict[str, list[float]] = defaultdict(list)
    cut = pairs([example.question for example in examples], [example.context for example in examples])
    for group in of_like_length([len(pair) for pair in cut]):
        for number, reading in zip(group, read_pairs(network, [cut[number] for number in group]), strict=True):
            for name, value in scored(examples[number], reading):
                found[f"{examples[number].source} {name}"].append(value)
    return found


def scored(example: Example, reading: Reading) -> Iterator[tuple[str, float]]:
    """Score one reading."""
    none = 1 - reading.span - reading.yes - reading.no
    if example.kind == "none":
        yield "none", float(none > max(reading.span, reading.yes, reading.no))
    elif example.kind == "span":
        answer = next((example.context[spot.start : spot.end] for spot in reading.spots), "")
        golds = [example.context[start:end] for start, end in example.spans]
        yield "exact match", exact_match(answer, golds)
        yield "F1", token_f1(answer, golds)
    else:
        yield "yes or no", float((reading.yes > reading.no) == (example.kind == "yes"))


if __name__ == "__main__":
    main()
