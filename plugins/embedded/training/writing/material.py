"""All material for the writer, and which part of it trains, which chooses, and which is only measured.

python -m plugins.embedded.training.writing.material DATA
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from plugins.embedded.training.source import load_data_folder, supporting_documents
from plugins.embedded.training.technical import FOLDERS, document_group
from plugins.embedded.training.writing.chains import chains, kin
from plugins.embedded.training.writing.comparisons import comparisons
from plugins.embedded.training.writing.composed import bridges, hybrids
from plugins.embedded.training.writing.decomposed import decomposed
from plugins.embedded.training.writing.follow_ups import described, rewrites, said_before, unchanged
from plugins.embedded.training.writing.likened import likened
from plugins.embedded.training.writing.linked import encyclopedic, fanned, linked
from plugins.embedded.training.writing.single import asked_of_one, worded
from plugins.embedded.training.writing.written import Written, fold, one, others, part, two

_OPEN: Final = ("how_to", "list")


def technical(data: Path) -> Iterator[Written]:
    """Yield the questions with their steps; those for one fact also where they look like two: "the option that", "whose"."""
    for name in FOLDERS:
        folder = load_data_folder(data / name)
        for item in folder.questions:
            documents = supporting_documents(folder, item)
            if not documents or item["metadata"]["kind"] in _OPEN:
                continue
            about = document_group(documents[0])
            if item["decomposition"]:
                first, second = (step["question"] for step in item["decomposition"]["steps"])
                yield two(item["question"], first, second, f"{name}_hops", about)
            else:
                yield one(item["question"], f"{name}_single", about)


_VOCABULARY: Final = 400
_GROUPS: Final = 3
_LONGEST: Final = 60


def material(data: Path, share: float = 1.0) -> Iterator[Written]:
    """Make every example of the folders under a path, in one fixed order: each question once, of words that can be written.

    `share` is how much of what can be composed without end is composed.
    """
    made = list(_once(written for written in _made(data, share) if _sound(written)))
    known = vocabulary(made)
    yield from (written for written in made if known.issuperset(others(written)))


def vocabulary(made: list[Written]) -> frozenset[str]:
    """Give the words that are written most often without standing in what was asked, about more things than one or two."""
    counts = Counter(word for written in made for word in others(written))
    about: dict[str, set[str]] = {word: set() for word in counts}
    for written in made:
        for word in others(written):
            about[word].add(written.group)
    wide = [word for word, _ in counts.most_common() if len(about[word]) >= _GROUPS]
    return frozenset(wide[:_VOCABULARY])


def _made(data: Path, share: float) -> Iterator[Written]:
    yield from decomposed(data)
    yield from encyclopedic(data)
    yield from linked(data)
    yield from fanned(data)
    yield from bridges(data, int(4000 * share))
    yield from hybrids(data, int(3500 * share))
    yield from chains(data, int(4500 * share))
    yield from kin(data, int(500 * share))
    yield from comparisons(data, int(4500 * share))
    yield from likened(data, int(1400 * share))
    yield from rewrites(data)
    yield from said_before(data, int(1600 * share))
    yield from described(data, int(6000 * share))
    yield from unchanged(data, int(1500 * share))
    yield from asked_of_one(data)
    yield from worded(data, int(1500 * share))
    yield from technical(data)


def _once(made: Iterator[Written]) -> Iterator[Written]:
    seen: set[tuple[str, str]] = set()
    for written in made:
        key = (fold(written.question), fold(written.history))
        if key not in seen:
            seen.add(key)
            yield written


def _sound(written: Written) -> bool:
    """Tell whether an example keeps to the form: `{1}` stands once in the second question of a bridge, and nowhere else."""
    text = " ".join((written.question, *written.steps))
    if not written.question or len(text.split()) > _LONGEST * 2 or re.search(r"\{s\}|\{x\}|\{q\}", text) or written.question.count("{1}"):
        return False
    if written.how == "single":
        return not written.steps
    if written.how == "rewrite":
        return len(written.steps) == 1
    counts = [step.count("{1}") for step in written.steps]
    different = len(written.steps) == 2 and fold(written.steps[0]) != fold(written.steps[1])
    return (
        different
        and counts == ([0, 1] if written.how == "bridge" else [0, 0])
        and all(fold(step) != fold(written.question) for step in written.steps)
    )


def main() -> None:
    """Count the material."""
    counts = Counter((written.source, written.how, part(written)) for written in material(Path(sys.argv[1])))
    for (source, how, where), count in sorted(counts.items()):
        print(f"{source:28} {how:8} {where:8} {count:6}")
    print(sum(counts.values()))


if __name__ == "__main__":
    main()
