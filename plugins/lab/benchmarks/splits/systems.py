"""Systems that split questions: none, the decompositions of the data sets, the embedded splitter, or a file."""

import json
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from plugins.lab.benchmarks.splits.flatten import Halves, Steps, flatten
from plugins.lab.benchmarks.splits.hops import HopQuestion, answer_to
from ramify.tools.errors import InputError

System = Callable[[HopQuestion], Steps]


def no_split(asked: HopQuestion) -> Steps:
    """Leave the question whole."""
    return (asked.question,)


def official_split(asked: HopQuestion) -> Steps:
    """Return the hops of the data set."""
    return tuple(re.sub(r"#(\d)", r"{\1}", hop.question) for hop in asked.hops)


def recursive_split(halves: Halves) -> System:
    """Make a system of what splits once."""
    return lambda asked: flatten(asked.question, halves, partial(answer_to, hops=asked.hops))


def embedded() -> Halves:
    """Split with the embedded splitter, as it finds likeliest."""
    from ramify.embedded.splitting import find_splits  # here, so that other systems can be measured where there is none

    def halves(question: str) -> tuple[str, str] | None:
        best = find_splits(question)[0]
        return None if best.how == "single" else (best.first, best.second)

    halves("Who designed the bridge that crosses the river?")  # loads it
    return halves


def split_from_file(path: Path) -> System:
    """Return the steps of a file of lines {"question", "steps"}; a question that is not in it is left whole."""
    steps: dict[str, Steps] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            read = json.loads(line)
            steps[str(read["question"])] = tuple(map(str, read["steps"]))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"line {number} of {str(path)!r} is not a split: {line!r:.80}", 'write {"question": "…", "steps": ["…", "… {1} …"]}'
            ) from error
    return lambda asked: steps.get(asked.question, (asked.question,))


def dump(lines: Iterable[tuple[str, Steps]], path: Path) -> None:
    """Write questions with their steps as such a file."""
    rows = (json.dumps({"question": question, "steps": list(steps)}, ensure_ascii=False) for question, steps in lines)
    path.write_text("".join(f"{line}\n" for line in dict.fromkeys(rows)), encoding="utf-8")
