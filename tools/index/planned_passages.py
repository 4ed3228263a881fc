"""The passages that an index of some files would hold: read and split as for a build, and not encoded."""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from ramify.tools.documents.files import existing, files_under
from ramify.tools.documents.load import nothing_readable
from ramify.tools.embeddings import load_encoder
from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.intake import Intake
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.near_duplicates import hide_twins
from ramify.tools.index.progress import Progress
from ramify.tools.index.working_copy import Draft

T = TypeVar("T")


def planned(
    paths: Sequence[Path], embedding: str, chunking: Chunking, clean: bool, progress: Progress, read: Callable[[Path], T]
) -> tuple[T, Encoder]:
    """Read the passages, and give the encoder that would encode them; InputError where nothing can be read."""
    encoder = load_encoder(embedding)
    given = [existing(path) for path in paths]
    with TemporaryDirectory(prefix="ramify-estimate-") as folder:
        draft_path = Path(folder) / PASSAGES
        with Draft(draft_path) as draft:
            draft.remember({"clean": "yes" if clean else "no"})
            intake = Intake(draft, encoder, chunking, [str(path.resolve()) for path in given])
            skipped: list[tuple[str, str]] = []
            intake.take(files_under(given, skipped), skipped, progress)
            if not intake.seen:
                raise nothing_readable(given, skipped)
            if clean:
                hide_twins(draft)
        return read(draft_path), encoder
