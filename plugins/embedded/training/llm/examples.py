"""Write the examples of every prompt, those to train on and those kept out.

    python -m plugins.embedded.training.llm.examples DATA OUT [--limit 3000] [--shots 2]

Each line of OUT/train.jsonl and OUT/kept_out.jsonl is an example: `prompt`, `source`, `kind`, `messages` and `reply`.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final

from plugins.embedded.training.example import assign_part, seeded_random
from plugins.embedded.training.llm.answers import hop_answers, single_answers
from plugins.embedded.training.llm.decisions import decisions
from plugins.embedded.training.llm.finals import conclusions
from plugins.embedded.training.llm.follow_ups import follow_ups
from plugins.embedded.training.llm.hops import MULTI_HOP, folders, multi_hop
from plugins.embedded.training.llm.judgements import judgements
from plugins.embedded.training.llm.rendered import SETTINGS, Asked, render
from plugins.embedded.training.llm.splits import chains, splits
from plugins.embedded.training.source import WordIndex

SHARES: Final = {"known": 4, "unknown": 2, "bridge": 2, "rewritten": 2, "next": 2, "good": 4}
"""How many of a kind stand beside one of another."""

Parts = dict[str, list[Asked]]


def make_examples(data: Path) -> Iterator[Asked]:
    """Yield all examples of the folders below a path, in one fixed order."""
    by_folder = [(folder, list(multi_hop(folder))) for folder in folders(data, MULTI_HOP)]
    made = [hops for _, some in by_folder for hops in some]
    yield from splits(data, made)
    yield from chain(chains(made), judgements(made))
    for folder, some in by_folder:
        index = WordIndex(folder.documents.values())
        yield from chain(hop_answers(some, index), decisions(some, index), conclusions(some, index))
    yield from single_answers(data)
    yield from follow_ups(data)


def deal(made: Iterable[Asked]) -> Parts:
    """Return the examples to train on, and those kept out: all of a question or a document that is kept out, each once."""
    parts: Parts = {"train": [], "kept_out": []}
    seen: set[tuple[str, ...]] = set()
    for asked in made:
        key = (asked.prompt.name, asked.prompt.template, asked.kind, *asked.groups[:1], str(asked.slots.get("history", "")))
        if key not in seen and not asked.thought.endswith("…"):  # a thought is not learned that was cut
            seen.add(key)
            kept = any(assign_part(group) == "measure" for group in asked.groups)
            parts["kept_out" if kept else "train"].append(asked)
    out = {asked.question for asked in parts["kept_out"]}
    return {**parts, "train": [asked for asked in parts["train"] if asked.question not in out]}


def balance(made: Iterable[Asked], limits: Mapping[str, int], fits: Callable[[Asked], bool], seed: int = 0) -> list[Asked]:
    """Return as many examples that fit as the limit of their prompt's name, of its kinds and their sources in turn, in a drawn order."""
    of_kind: dict[str, dict[str, dict[str, list[Asked]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for asked in made:
        of_kind[asked.prompt.name][asked.kind][asked.source].append(asked)
    drawn: list[Asked] = []
    for name, kinds in of_kind.items():
        by_kind = {
            kind: _in_turn(filter(fits, _drawn(some, (seed, name, kind, source))) for source, some in by_source.items())
            for kind, by_source in kinds.items()
        }
        drawn += islice(_in_turn(made for kind, made in by_kind.items() for _ in range(SHARES.get(kind, 1))), limits[name])
    return _drawn(drawn, (seed, "order"))


def _drawn(made: list[Asked], key: tuple[object, ...]) -> list[Asked]:
    return seeded_random(*key).sample(made, len(made))


def _in_turn(several: Iterable[Iterable[Asked]]) -> Iterator[Asked]:
    """Yield one of each in turn, until all are spent."""
    return (asked for turn in zip_longest(*several) for asked in turn if asked is not None)


def prompt_limit(text: str) -> tuple[str, int]:
    """Return the name and the number of PROMPT=N; ValueError if it is none."""
    name, _, number = text.partition("=")
    return name, int(number)


def main(given: list[str] | None = None) -> None:
    """Write the examples, and print how many there are of each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--limit", type=int, default=3000, help="most examples of each prompt to train on; a tenth of that is kept out")
    parser.add_argument("--most", type=prompt_limit, nargs="*", default=[], metavar="PROMPT=N", help="another limit for a prompt")
    parser.add_argument("--longest", type=int, default=20_000, help="most characters of the messages of an example")
    parser.add_argument("--shots", type=int, default=SETTINGS.shots, help="worked examples in each prompt, as the setting shots")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(given)
    settings = SETTINGS.model_copy(update={"shots": options.shots})
    parts = deal(make_examples(options.data))
    options.out.mkdir(parents=True, exist_ok=True)
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)

    def fits(asked: Asked) -> bool:
        return bool(sum(len(message["content"]) for message in render(asked, settings)["messages"]) <= options.longest)

    for part, share in (("train", 1), ("kept_out", 10)):
        limits = {asked.prompt.name: options.limit for asked in parts[part]} | dict(options.most)
        drawn = balance(parts[part], {name: max(1, most // share) for name, most in limits.items()}, fits, options.seed)
        chosen = [render(asked, settings) for asked in drawn]
        write_lines(options.out / f"{part}.jsonl", chosen)
        for example in chosen:
            counts[example["prompt"], example["kind"], example["source"]][part] += 1
    for key, by_part in sorted(counts.items()):
        print(f"{key[0]:14} {key[1]:12} {key[2]:26} {by_part['train']:6} {by_part['kept_out']:6}")
    print(f"{'sum':54} {sum(c['train'] for c in counts.values()):6} {sum(c['kept_out'] for c in counts.values()):6}")


def write_lines(path: Path, examples: list[dict[str, Any]]) -> None:
    """Write examples as JSON lines."""
    path.write_text("".join(json.dumps(example, ensure_ascii=False) + "\n" for example in examples), encoding="utf-8")


if __name__ == "__main__":
    main()
