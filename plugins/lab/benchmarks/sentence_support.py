"""Measure which sentences of an answer are marked as unsupported: `python plugins/lab/benchmarks/sentence_support.py [--show]`.

The sentences are in `plugins/embedded/tests/checks/support`: right and wrong ones over the demo corpus and short manuals, in two halves.
The check was developed on `development`, the other half is for reporting only; `--show` prints the misjudged sentences of the first.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

from ramify.embedded.relevance import check_support
from ramify.tools.demo import demo_corpus
from ramify.tools.reader import Material
from ramify.tools.supporting_sentence import QuestionAnswer

FOLDER = Path(__file__).parents[3] / "plugins" / "embedded" / "tests" / "checks" / "support"
DEVELOPMENT, REPORTED = "development", "reported"


class Judged(NamedTuple):
    """A sentence, whether it is right, and whether it was marked as unsupported."""

    half: str
    kind: str
    """Of a wrong sentence: what is wrong; else empty."""
    text: str
    is_marked: bool


class Shares(NamedTuple):
    """The shares of right and of wrong sentences that are marked, with how many there are."""

    right: float
    rights: int
    wrong: float
    wrongs: int


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of records, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judge() -> list[Judged]:
    """Check all sentences against the passages of their question; blocking."""
    passages = {passage["id"]: passage for file in (demo_corpus(), FOLDER / "passages.jsonl") for passage in read_lines(file)}
    judged = []
    for group in read_lines(FOLDER / "sentences.jsonl"):
        shown = [passages[key] for key in group["passages"]]
        materials = [Material(f"{passage['title']} {passage.get('heading', '')}".strip(), passage["text"]) for passage in shown]
        asked = [QuestionAnswer(group["question"], group["answer"]), *(QuestionAnswer(*pair) for pair in group["findings"])]
        for kind, text in [*(("", text) for text in group["right"]), *group["wrong"]]:
            judged.append(Judged(group["half"], kind, text, check_support(text, materials, asked) is False))
    return judged


def shares(judged: list[Judged], half: str) -> Shares:
    """Return the figures of a half."""
    right = [sentence.is_marked for sentence in judged if sentence.half == half and not sentence.kind]
    wrong = [sentence.is_marked for sentence in judged if sentence.half == half and sentence.kind]
    return Shares(sum(right) / len(right), len(right), sum(wrong) / len(wrong), len(wrong))


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the misjudged sentences of the half for development")
    arguments = parser.parse_args()
    judged = judge()
    for half in (DEVELOPMENT, REPORTED):
        figures = shares(judged, half)
        print(f"{half}: {figures.right:.1%} of {figures.rights} right sentences marked, {figures.wrong:.1%} of {figures.wrongs} wrong ones")
    for sentence in judged if arguments.show else ():
        if sentence.half == DEVELOPMENT and sentence.is_marked != bool(sentence.kind):
            print(f"{sentence.kind or 'right'}: {sentence.text}")


if __name__ == "__main__":
    main()
