"""Compare the replies of a model with and without an adapter to those of examples, field by field.

    python -m plugins.embedded.training.llm.replies MODEL.gguf ADAPTER.gguf EXAMPLES.jsonl [--most 20] [--show]

Replies are free: no grammar keeps them to the form. A field is right if its value is that of the example, apart from case, punctuation and
articles; a thought is not compared.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from plugins.embedded.training.llm.adapter import LlamaCpp
from plugins.embedded.training.llm.rows import Example, read_examples
from ramify.lab.metrics import normalize_answer

SIDES = {"alone": 0.0, "with adapter": 1.0}
"""The scale of the adapter."""
NOT_COMPARED = frozenset({"thought"})


def compare_reply(expected: str, reply: str) -> dict[str, bool]:
    """Return whether a reply is valid, has the values of the fields expected, and has all of them."""
    wanted = json.loads(expected)
    try:
        given = json.loads(reply)
    except ValueError:
        given = None
    valid = isinstance(given, dict) and given.keys() == wanted.keys()
    fields = {name: valid and _same(value, given[name]) for name, value in wanted.items() if name not in NOT_COMPARED}
    return {"valid": valid, **fields, "all fields": all(fields.values())}


def _same(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, str) and isinstance(given, str):
        return normalize_answer(wanted) == normalize_answer(given)
    if isinstance(wanted, list) and isinstance(given, list):
        return len(wanted) == len(given) and all(_same(one, other) for one, other in zip(wanted, given, strict=True))
    return bool(wanted == given)


def choose(examples: Iterable[Example], most: int) -> Iterator[Example]:
    """Yield the first examples of each prompt, prompt by prompt."""
    by_prompt: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_prompt[example["prompt"]].append(example)
    for _, some in sorted(by_prompt.items()):
        yield from islice(some, most)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many replies are right, by prompt and field."""
    parser = argparse.ArgumentParser(description="Compare replies with and without an adapter.")
    parser.add_argument("model", type=Path)
    parser.add_argument("adapter", type=Path)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--most", type=int, default=20, help="examples of each prompt")
    parser.add_argument("--show", action="store_true", help="print the replies")
    given = parser.parse_args(arguments)
    engine = LlamaCpp(given.model, given.adapter)
    counts: Counter[str] = Counter()
    right: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for example in choose(read_examples(given.examples), given.most):
        counts[example["prompt"]] += 1
        if given.show:
            print(f"{example['prompt']}\n  {'expected':13}{example['reply']}", flush=True)
        for side, scale in SIDES.items():
            reply, _ = engine.reply(example["messages"], scale)
            for field, same in compare_reply(example["reply"], reply).items():
                right[example["prompt"], field][side] += same
            if given.show:
                print(f"  {side:13}{reply}", flush=True)
    print(f"{'prompt':15}{'field':13}{'of':>5}" + "".join(f"{side:>14}" for side in SIDES))
    for (prompt, field), sides in right.items():
        print(f"{prompt:15}{field:13}{counts[prompt]:5}" + "".join(f"{sides[side]:14}" for side in SIDES))


if __name__ == "__main__":
    main()
