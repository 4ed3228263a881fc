"""The command line, and a folder of documents with an index that a test may change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ramify.tools.index import Index
from tests.studio.conftest import Ramify, nothing_allowed, nowhere, ramify

__all__ = ["Corpus", "Ramify", "corpus", "nothing_allowed", "nowhere", "ramify"]

POLICY = "# Travel\n\nA hotel room may cost up to 90 euros a night. The daily allowance is 28 euros.\n"
PEOPLE = "# People\n\nThe head of finance is Anna Lindgren.\n"
BIRTHS = "# Births\n\nAnna Lindgren was born in Uppsala. Jonas Weber was born in Graz.\n"
HOTEL, BORN = "How much may a hotel room cost a night?", "In which city was the head of finance born?"


class Corpus:
    """Documents and their index, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.documents, self.index = folder, folder / "documents", folder / "index"
        self.tests, self.results = folder / "tests.yaml", folder / "tests.lock"
        self.documents.mkdir()
        self.write(**{"policy.md": POLICY, "people.md": PEOPLE, "births.md": BIRTHS})

    def write(self, **files: str) -> None:
        """Write files, and update the index."""
        for name, text in files.items():
            (self.documents / name).write_text(text, encoding="utf-8")
        Index.build([str(self.documents)], self.index)

    def expect(self, text: str) -> None:
        """Write the file of expectations."""
        self.tests.write_text(text, encoding="utf-8")


@pytest.fixture
def corpus(tmp_path: Path, nowhere: str) -> Corpus:
    return Corpus(tmp_path)


@pytest.fixture
def run_tests(ramify: Ramify, corpus: Corpus) -> Callable[..., object]:
    """Run the corpus's file of expectations with the embedded model."""
    return lambda *options: ramify("test", corpus.tests, "--index", corpus.index, "--model", "extractive", *options)
