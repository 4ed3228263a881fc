"""An update of a large index killed between two files: the next one completes it without encoding."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ramify.tools.errors import IndexingError
from ramify.tools.index import Index
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_damage import PUBLISH_AND_DIE
from tests.tools.index.test_incremental_update import build, change, corpus, large, words  # noqa: F401
from tests.tools.index.test_updates import search_all

LARGE_AND_DIE = f"""
from ramify.tools.index import hnsw, publication
hnsw._MAX_SCANNED = publication.MIN_POSTINGS_PASSAGES = 50
{PUBLISH_AND_DIE}"""


@fault(
    "processes",
    "killed between two files of an index",
    sees="the old index, or one line: run the command again",
    kept="everything; nothing is encoded again",
    code="killed",
)
@pytest.mark.parametrize("step", ["passages.sqlite", "slots.npy", "vectors.faiss", "words.counts.npy", "words.slots.npy", "manifest.json"])
def test_an_update_killed_between_two_files_is_completed(tmp_path: Path, corpus: Path, step: str) -> None:  # noqa: F811
    folder = build(corpus, tmp_path / "index")
    before = search_all(folder)
    change(corpus)
    program = [sys.executable, "-c", LARGE_AND_DIE, str(corpus), str(folder), step]
    assert subprocess.run(program, cwd=Path(__file__).parents[3], check=False).returncode == -signal.SIGKILL
    if step == "passages.sqlite":
        assert search_all(folder) == before
    else:
        with pytest.raises(IndexingError, match="again"):
            Index.open(folder, WordEncoder())
    Index.build([corpus], folder, encoder := WordEncoder())
    new = build(corpus, tmp_path / "new")
    assert (encoder.encoded, search_all(folder), words(folder)) == ([], search_all(new), words(new))
