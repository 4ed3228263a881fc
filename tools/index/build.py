"""What a build is asked for and what it says it did; and how it takes documents in, wherever the index lies."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ramify.tools.documents.files import Skipped, existing, files_under
from ramify.tools.documents.load import nothing_readable
from ramify.tools.embeddings.encoder import Encoder, Encoding, in_turn
from ramify.tools.embeddings.prefixes import advice
from ramify.tools.errors import InputError
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.intake import Intake
from ramify.tools.index.manifest import Manifest, Precision
from ramify.tools.index.near_duplicates import hide_twins
from ramify.tools.index.progress import Progress, silent
from ramify.tools.index.working_copy import Draft

BATCH_SIZE = 256
"""Texts encoded between two commits: the most that an interrupted build encodes again."""


class Built(NamedTuple):
    """What a build did: documents by their fate, what the index now holds, how many texts were encoded, what was left out and why."""

    added: int
    changed: int
    unchanged: int
    removed: int
    documents: int
    passages: int
    encoded: int
    skipped: list[Skipped]
    seconds: float
    advice: str | None
    """What would make a better index."""
    hidden: dict[str, int]
    """Passages kept and not searched, by the reason: what only lists, licenses or repeats."""
    remarks: list[Skipped]
    """What is to be said of files that were read now: an encoding that was guessed, pages without text."""


class Wanted(NamedTuple):
    """How an index is to be built; what the fields mean is said at `Index.build`."""

    encoder: Encoder
    chunking: Chunking
    batch_size: int = BATCH_SIZE
    progress: Progress = silent
    clean: bool = True
    label: Sequence[str] | None = None
    vectors: Precision | None = None
    encoding: Encoding = in_turn
    shared: bool = False


class Taken(NamedTuple):
    """What became of the documents that lie under the paths, and what was left out of them."""

    intake: Intake
    gone: int
    skipped: list[Skipped]

    def built(self, manifest: Manifest, encoded: int, began: float, encoder: Encoder) -> Built:
        """Say what a build did that began then, as `time.perf_counter` counts."""
        intake, held = self.intake, (manifest.documents, manifest.passages)
        fates = (intake.added, intake.changed, intake.unchanged, self.gone)
        seconds = time.perf_counter() - began
        return Built(*fates, *held, encoded, self.skipped, seconds, advice(encoder), manifest.hidden, intake.remarks)


def given_paths(paths: Sequence[str | Path]) -> dict[Path, Path]:
    """Give each path by its full name, so that none counts twice; InputError where there is none."""
    return {existing(path).resolve(): existing(path) for path in paths}


def take_in(given: Mapping[Path, Path], draft: Draft, encoder: Encoder, chunking: Chunking, progress: Progress) -> Taken:
    """Write to a draft what lies under the paths, and remove what does no more; InputError where nothing can be read there."""
    skipped: list[Skipped] = []
    intake = Intake(draft, encoder, chunking, map(str, given))
    intake.take(files_under(list(given.values()), skipped), skipped, progress)
    if not intake.seen:
        raise nothing_readable(list(given.values()), skipped)
    if intake.absent and intake.fields:
        what = f"no document has the metadata {', '.join(map(repr, intake.absent))}"
        raise InputError(what, f"label passages with what there is: {', '.join(sorted(intake.fields))}")
    gone = intake.let_go()
    if draft.clean:
        hide_twins(draft)
    draft.note_left_out(skipped)
    return Taken(intake, gone, skipped)
