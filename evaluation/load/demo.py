"""The questions that come with ramify; the half for reporting stays unseen while working on what answers them."""

from ramify.evaluation.dataset import Dataset
from ramify.evaluation.load.assemble import Read, assemble
from ramify.evaluation.load.folder import about_open, question_of
from ramify.evaluation.load.records import read_records
from ramify.tools.demo import demo_corpus
from ramify.tools.errors import UsageError

NAME = "demo"
SPLITS = ("development", "reporting", "overview")


def load_demo(name: str) -> Dataset:
    """Load the demo questions: all, or those of a split."""
    split = name.removeprefix(NAME).removeprefix(":")
    if split not in ("", *SPLITS):
        raise UsageError(f"the demo questions have no split {split!r}", f"choose {' or '.join(f'{NAME}:{one}' for one in SPLITS)}")
    corpus = demo_corpus()
    file = "overview.jsonl" if split == "overview" else "questions.jsonl"
    read = [Read(record.place, question_of(record)) for record in read_records(corpus.with_name(file))]
    wanted = [one for one in read if not split or one.question.metadata.get("split", split) == split]
    return assemble("-".join(filter(None, (NAME, split))), wanted, corpus, caveats=about_open(wanted))
