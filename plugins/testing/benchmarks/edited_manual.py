"""Edit a manual and run its tests over both versions: which answers change, and how many questions are asked again.

    python plugins/testing/benchmarks/edited_manual.py FOLDER QUESTIONS [--cited 4] [--share 0.8] [--seed 7]

The expected answer of each question (a line of QUESTIONS) is the one over the manual as it is. In the new version a word is changed in a
share of the files, and the answer is changed in the sentence that some answers rest on. Prints what flipped, and exits 1 if a question that
was not asked again has another answer.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ramify.testing.adding import expect_answer
from ramify.testing.expectations import Expectation, Expectations
from ramify.testing.reports import outcome_lines, summary_line
from ramify.testing.running import Outcome, TestRun
from ramify.testing.stored_results import ResultsFile
from ramify.tools.index import Index

_WORD = re.compile(r"\b[a-z]{5,}\b")
_PLAIN_LINE = re.compile(r"^[^<>{}\\]*\b[a-z]{5,}\b[^<>{}\\]*\b[a-z]{5,}\b[^<>{}\\]*$")
"""A line of prose without markup."""


def run_tests(tests: Sequence[Expectation], index: Path, results: Path, asks_all: bool = False) -> list[Outcome]:
    """Run tests over an index with the results that are stored in a file."""
    run = TestRun(Expectations(tests=list(tests)), ResultsFile(results), {"index": str(index), "model": "extractive"}, "prune", asks_all)
    return run.run(tests)


def edit(old: Path, new: Path, answers: dict[str, str], share: float, draw: random.Random) -> None:
    """Write the new version: a word changed in a share of the files, and answers changed in the files that have them, by file."""
    shutil.copytree(old, new)
    for path in sorted(path for path in new.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if (answer := answers.get(path.name)) is not None:
            text = re.sub(rf"\b{re.escape(answer)}\b", "changed", text)
        lines = text.split("\n")
        prose = [number for number, line in enumerate(lines) if _PLAIN_LINE.match(line)]
        if prose and draw.random() < share:
            number = draw.choice(prose)
            lines[number] = lines[number].replace(draw.choice(_WORD.findall(lines[number])), "revised", 1)
        path.write_text("\n".join(lines), encoding="utf-8", errors="surrogateescape")


def main() -> int:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--cited", type=int, default=4, help="answers that are changed where they stand")
    parser.add_argument("--share", type=float, default=0.8, help="files of which a word is changed")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    draw, questions = random.Random(given.seed), given.questions.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as place:
        above = Path(place)
        built = Index.build([given.folder], above / "old.index")
        asked = [Expectation(question=question, contains=["?"]) for question in questions]
        first = [outcome.record for outcome in run_tests(asked, above / "old.index", above / "first.yaml") if outcome.record]
        tests = [expect_answer(question, record.answer) for question, record in zip(questions, first, strict=True)]
        run_tests(tests, above / "old.index", above / "tests.yaml")
        named = {record.sentences[0].source: record.answer for record in first if record.sentences}
        short = {Path(source).name: answer for source, answer in named.items() if len(answer.split()) <= 2}
        edit(given.folder, above / "new", dict(draw.sample(sorted(short.items()), min(given.cited, len(short)))), given.share, draw)
        Index.build([above / "new"], above / "new.index")
        shutil.copy(above / "tests.lock", above / "all.lock")
        again = run_tests(tests, above / "new.index", above / "tests.yaml")
        everything = run_tests(tests, above / "new.index", above / "all.yaml", asks_all=True)
    for number, outcome in enumerate(again, 1):
        if not outcome.holds:
            print(*outcome_lines(outcome, number, len(again)), sep="\n")
    missed = [one.test.question for one, other in zip(again, everything, strict=True) if one.holds != other.holds]
    print(f"{built.documents} documents, {built.passages} passages; {summary_line(again)}; missed: {missed or 'none'}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
