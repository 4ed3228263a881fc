"""Give documents of a finished index other metadata: where they stand stays, and only what is embedded otherwise is encoded."""

from collections.abc import Sequence
from pathlib import Path

from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.prefixed import with_prefixes
from ramify.tools.index.build import BATCH_SIZE, encode_missing, publish_changes
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.index_folder import manifest_of, writing
from ramify.tools.index.intake import Found, Intake
from ramify.tools.index.manifest import PASSAGES
from ramify.tools.index.near_duplicates import hide_twins
from ramify.tools.index.open_working_copy import open_draft, take_vectors
from ramify.tools.index.progress import silent
from ramify.tools.index.working_copy import Draft


def amend(folder: Path, encoder: Encoder, documents: Sequence[Document], other: Path | None = None) -> None:
    """Write documents that an index holds with the metadata they have now; vectors are taken from another index that has the same texts."""
    manifest = manifest_of(folder)
    encoder, chunking = with_prefixes(encoder, manifest.prefixes), Chunking(manifest.chunk_tokens, manifest.overlap)
    with writing(folder), open_draft(folder, encoder, chunking, resume=False) as draft:
        if other is not None:
            take_vectors(draft, other / PASSAGES)
        Intake(draft, encoder, chunking, roots=()).write([_placed(draft, document) for document in documents])
        if draft.clean:
            hide_twins(draft)
        encode_missing(draft, encoder, BATCH_SIZE, silent)
        publish_changes(folder, draft, encoder, chunking, silent)


def _placed(draft: Draft, document: Document) -> Found:
    """Leave a document where it was found."""
    held = draft.held(str(document.id))
    return Found(document, held.root, held.file, held.kind) if held else Found(document)
