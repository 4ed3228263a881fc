"""Edit a small corpus at random, and ask all questions after each edit: no answer that changed may be skipped by `ramify test`.

    python plugins/testing/benchmarks/random_edits.py [--edits 200] [--seed 0] [--strategy prune]

Each edit changes, deletes or adds a sentence or a file. Prints how many questions the rule of `ramify.testing.running` asks again, how many
of their answers changed, and how many changed answers it would have skipped, which must be 0: else it exits 1.
"""

import argparse
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ramify.graphs.run import blocking
from ramify.testing.expectations import Expectation, Expectations
from ramify.testing.running import TestRun, describe_conditions, is_unchanged
from ramify.testing.stored_results import ResultsFile
from ramify.tools.index import Index

PEOPLE = ("Anna Lindgren", "Jonas Weber", "Mira Okafor", "Pavel Novak", "Ines Duarte", "Tom Hale")
TOWNS = ("Uppsala", "Graz", "Lagos", "Brno", "Porto", "Leeds")
POSTS = ("finance", "logistics", "research", "sales", "security", "training")
BRIDGES = ("Hollin Bridge", "Vane Bridge", "Skerry Bridge")
QUESTIONS = (
    "In which city was the head of finance born?",
    "In which city was the head of research born?",
    "When was Vane Bridge opened?",
    "Which bridge was opened first, Hollin Bridge or Skerry Bridge?",
    "How much is the allowance for logistics?",
)


@dataclass
class Counts:
    """What came of the edits."""

    asked: int = 0
    """Questions that the rule asks again."""
    unchanged: int = 0
    """Questions that it does not ask again."""
    changed: int = 0
    """Answers that changed."""
    skipped: int = 0
    """Changed answers of questions that it does not ask again."""

    def __str__(self) -> str:
        """Return them in a line."""
        total = self.asked + self.unchanged
        return (
            f"{total} questions: {self.asked} asked again ({self.asked / total:.0%}), {self.changed} answers changed, "
            f"{self.skipped} of them skipped"
        )


def first_files(draw: random.Random) -> dict[str, list[str]]:
    """Return the sentences of each file."""
    files = {f"{post}.md": [fact(draw, f"head {post}"), fact(draw, f"allowance {post}")] for post in POSTS}
    files |= {f"{name.split()[0].lower()}.md": [fact(draw, f"birth {name}")] for name in PEOPLE}
    return files | {f"{name.split()[0].lower()}.md": [fact(draw, f"bridge {name}")] for name in BRIDGES}


def fact(draw: random.Random, about: str) -> str:
    """Return a sentence with a value drawn at random."""
    kind, _, what = about.partition(" ")
    return {
        "head": f"The head of {what} is {draw.choice(PEOPLE)}.",
        "allowance": f"The allowance for {what} is {draw.randrange(20, 90)} euros a day.",
        "birth": f"{what} was born in {draw.choice(TOWNS)}.",
        "bridge": f"{what} was opened in {draw.randrange(1850, 1990)}.",
    }[kind]


def edit(files: dict[str, list[str]], draw: random.Random) -> None:
    """Change, delete or add something."""
    kind = draw.choice(["change", "change", "delete sentence", "add sentence", "delete file", "add file"])
    about = draw.choice(
        ["head " + draw.choice(POSTS), "allowance " + draw.choice(POSTS), "birth " + draw.choice(PEOPLE), "bridge " + draw.choice(BRIDGES)]
    )
    name = draw.choice(sorted(files))
    if kind == "change":
        files[name][draw.randrange(len(files[name]))] = fact(draw, about)
    elif kind == "delete sentence" and len(files[name]) > 1:
        files[name].pop(draw.randrange(len(files[name])))
    elif kind == "add sentence":
        files[name].insert(draw.randrange(len(files[name]) + 1), fact(draw, about))
    elif kind == "delete file" and len(files) > 8:
        del files[name]
    else:
        files[f"note-{draw.randrange(10_000)}.md"] = [fact(draw, about)]


def write(files: dict[str, list[str]], folder: Path) -> None:
    """Write the files, and delete those that are no longer there."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for name, sentences in files.items():
        (folder / name).write_text(f"# {name.removesuffix('.md').capitalize()}\n\n" + " ".join(sentences) + "\n", encoding="utf-8")


def check_edits(folder: Path, edits: int, seed: int, strategy: str) -> Counts:
    """Make edits, ask all questions after each, and count what the rule would have skipped."""
    draw, counts = random.Random(seed), Counts()
    files, documents, index = first_files(draw), folder / "documents", folder / "index"
    expectations = Expectations(tests=[Expectation(question=question, excludes=["no such words"]) for question in QUESTIONS])
    results = ResultsFile(folder / "tests.yaml")
    run = TestRun(expectations, results, {"index": str(index), "model": "extractive"}, strategy, asks_all=True)
    for number in range(edits + 1):
        write(files, documents)
        Index.build([str(documents)], index)
        before = {question: stored.latest for question, stored in results.results.items()}
        kept = {question for question, record in before.items() if record is not None and blocking(_is_kept(run, question, record))}
        for outcome in run.run(expectations.tests, lambda outcome: None)[-len(QUESTIONS) :]:
            old, new = before.get(outcome.test.question), outcome.record
            assert new is not None, outcome.error
            if number == 0 or old is None:
                continue
            changed = (old.answer, old.text, [hop.answer for hop in old.hops]) != (new.answer, new.text, [hop.answer for hop in new.hops])
            skipped = outcome.test.question in kept
            counts.asked += not skipped
            counts.unchanged += skipped
            counts.changed += changed
            counts.skipped += changed and skipped
        edit(files, draw)
    return counts


async def _is_kept(run: TestRun, question: str, record: object) -> bool:
    test = next(test for test in run.expectations.tests if test.question == question)
    strategy, options, settings = await run.how(test)
    conditions = describe_conditions(strategy, options, settings, run.repetition(test))
    return await is_unchanged(record, conditions, settings)  # type: ignore[arg-type]


def main() -> int:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strategy", default="prune")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = check_edits(Path(folder), options.edits, options.seed, options.strategy)
    print(f"{options.edits} edits, {counts}")
    return int(counts.skipped > 0)


if __name__ == "__main__":
    sys.exit(main())
