"""A corpus in Milvus as a place for an index: built, opened and changed as one in a folder is."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.documents import Document

from ramify.tools.embeddings.encoder import Encoder
from ramify.tools.embeddings.prefixes import with_prefixes
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import Built, Wanted, given_paths, take_in
from ramify.tools.index.chunking import Chunking
from ramify.tools.index.intake import Found, Intake
from ramify.tools.index.manifest import LAYOUT, WHOLE, Manifest
from ramify.tools.index.near_duplicates import hide_twins
from ramify.tools.index.open_working_copy import Making, compare
from ramify.tools.index.working_copy import Draft
from ramify.tools.milvus.collections import Store
from ramify.tools.milvus.connection import read
from ramify.tools.milvus.ledger import Entry, writing
from ramify.tools.milvus.search import HeldInMilvus
from ramify.tools.milvus.working_copy import DOCUMENT, HIDDEN, differences, push_ledger, push_passages, working_copy

MANIFEST = "manifest"
GENERATION = "generation"
"""Another one with each change."""


@dataclass(frozen=True)
class Collection:
    """A corpus in a collection."""

    store: Store

    @classmethod
    def at(cls, where: str) -> "Collection":
        """Read an address; UsageError where it is none."""
        return cls(Store(read(where)))

    @property
    def where(self) -> str:
        """Write the address."""
        return self.store.address.where

    def _remembered(self) -> dict[str, Any] | None:
        return self.store.entry(MANIFEST) if self.store.exists() else None

    def manifest(self) -> Manifest | None:
        """Read the manifest; IndexingError where it is of another version."""
        told = self._remembered()
        if told is None:
            return None
        try:
            manifest = Manifest(**{name: value for name, value in told.items() if name != GENERATION})
        except TypeError as error:
            raise self._of_another_version(str(error)) from error
        if manifest.layout != LAYOUT:
            raise self._of_another_version(f"layout {manifest.layout!r}, not {LAYOUT}")
        return manifest

    def _of_another_version(self, why: str) -> IndexingError:
        what = f"the index in {self.where!r} is of another version of ramify ({why})"
        return IndexingError(what, "make another: `ramify index PATH… --out` with the name of a new collection")

    def fingerprint(self) -> bytes:
        """Return what the manifest says."""
        return json.dumps(self._remembered(), sort_keys=True).encode()

    def open(self) -> HeldInMilvus:
        """Open the corpus; IndexingError where there is none, or its first build has not finished."""
        manifest = self.manifest()
        if manifest is None:
            begun = self.store.exists() and next(self.store.entries(), None) is not None
            what = f"the index in {self.where!r} is half-written" if begun else f"there is no index in {self.where!r}"
            raise IndexingError(what, f"run `ramify index PATH… --out '{self.where}'`{' again: it goes on' if begun else ''}")
        return HeldInMilvus(self.store, manifest)

    def build(self, paths: Sequence[str | Path], wanted: Wanted) -> Built:
        """Bring the corpus up to date with what lies under the paths; until it has finished, what is written is found already."""
        began = time.perf_counter()
        encoder, chunking, progress = wanted.encoder, wanted.chunking, wanted.progress
        if wanted.vectors not in (None, WHOLE):
            raise UsageError(f"vectors in {wanted.vectors} are for an index in a folder", "leave --vectors out")
        given = given_paths(paths)
        making = Making(encoder, chunking, wanted.clean, None if wanted.label is None else tuple(wanted.label))
        with self._changing(encoder, making) as (draft, alive):
            encoder = with_prefixes(encoder, draft.prefixes)
            taken = take_in(given, draft, encoder, chunking, progress)
            encoded = push_passages(self.store, differences(self.store, draft), wanted._replace(encoder=encoder), alive)
            manifest = self._publish(draft, encoder, chunking)
        return taken.built(manifest, encoded, began, encoder)

    def write(self, encoder: Encoder, chunking: Chunking, documents: Sequence[Document]) -> None:
        """Add a program's documents, replacing those of the same ids."""
        ids = [str(document.id) for document in documents]
        with self._changing(encoder, Making(encoder, chunking, None), self._scope(ids)) as (draft, alive):
            encoder = with_prefixes(encoder, draft.prefixes)
            Intake(draft, encoder, chunking, roots=()).write([Found(document) for document in documents])
            self._settle(draft, encoder, chunking, alive, self._scope(ids))

    def remove(self, encoder: Encoder, chunking: Chunking, ids: Sequence[str]) -> None:
        """Remove documents or single passages."""
        with self._changing(encoder, Making(encoder, chunking, None)) as (draft, alive):
            draft.remove(ids)
            self._settle(draft, with_prefixes(encoder, draft.prefixes), chunking, alive, None)

    def _scope(self, ids: Sequence[str]) -> list[str] | None:
        """List the documents that a change is about; None for all, where a passage may stand for twins in other documents."""
        twins = self.store.exists() and any(one.kind == HIDDEN for one in self.store.entries())
        return None if twins else list(ids)

    def _settle(self, draft: Draft, encoder: Encoder, chunking: Chunking, alive: Callable[[], None], scope: Sequence[str] | None) -> None:
        if scope is None and draft.clean:
            hide_twins(draft)
        push_passages(self.store, differences(self.store, draft, scope), Wanted(encoder, chunking), alive)
        self._publish(draft, encoder, chunking, scope)

    @contextmanager
    def _changing(self, encoder: Encoder, making: Making, scope: Sequence[str] | None = None) -> Iterator[tuple[Draft, Callable[[], None]]]:
        """Give a working copy of the corpus, or of some documents, and what says that the writer lives."""
        dimension = encoder.dimension
        self.manifest()  # one of another version is refused
        self.store.create(dimension)
        with writing(self.store) as alive, working_copy(self.store, scope) as draft:
            compare(draft, making, self.where, "collection")
            yield draft, alive

    def _publish(self, draft: Draft, encoder: Encoder, chunking: Chunking, scope: Sequence[str] | None = None) -> Manifest:
        """Bring the ledger in line, and the manifest at last."""
        entries = push_ledger(self.store, draft, scope)
        reasons = [str(one.value["hidden"]) for one in entries if one.kind == HIDDEN]
        hidden = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
        counts = (sum(one.kind == DOCUMENT for one in entries), self.store.count())
        manifest = Manifest(
            encoder.name, self.store.dimension(), *chunking, *counts, sha256={}, layout=LAYOUT,
            query_prefix=encoder.prefixes.query, document_prefix=encoder.prefixes.document, hidden=hidden, label=list(draft.label),
        )  # fmt: skip
        told, before = asdict(manifest), self._remembered()
        if draft.changed or before is None or {**before, GENERATION: ""} != {**told, GENERATION: ""}:
            self.store.flush()
            self.store.note([Entry(MANIFEST, MANIFEST, "", {**told, GENERATION: uuid4().hex})])
        return manifest
