"""Milvus as an index store: built, opened, searched and changed like an index in a folder.

A build reads a working copy without vectors and words from the server, changes it, and writes the differences. New and changed passages
are written before deleted ones are removed.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document

from ramify.stores.milvus._collections import Corpus, MetadataEntry, corpus_lock, in_batches
from ramify.stores.milvus._schema import parse_address, passage_state
from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index.build import IndexStore, Publish, ResolvedSources
from ramify.tools.index.chunking import embedded_text
from ramify.tools.index.hybrid_search import Reranker, SearchOptions, search_source
from ramify.tools.index.index_writer import BuildOptions, IndexWriter, check_settings
from ramify.tools.index.manifest import FULL_PRECISION, LAYOUT, PASSAGES, Manifest
from ramify.tools.index.near_duplicates import hide_duplicates
from ramify.tools.index.passage_store import Filter, SearchedPassage, searched_passages
from ramify.tools.passage import Passage

FACTS, DOCUMENT, FILE, HIDDEN = "facts", "document", "file", "hidden"
"""The kinds of metadata entries: options of the index, documents, files, and hidden passages."""
ENTRY_KINDS = frozenset({FACTS, DOCUMENT, FILE, HIDDEN})
_MAX_SKIPPED = 200
"""Maximum number of skipped parts recorded for each file."""


@contextmanager
def working_copy(corpus: Corpus, documents: Sequence[str] | None = None) -> Iterator[IndexWriter]:
    """Read a corpus, or some of its documents, into a temporary index writer."""
    with TemporaryDirectory(prefix="ramify-milvus-") as folder, IndexWriter(Path(folder) / PASSAGES) as writer:
        writer.database.executescript("PRAGMA synchronous = OFF; DROP TRIGGER words_added; DROP TRIGGER words_removed;")
        writer.database.executescript("DROP TRIGGER words_hidden; DROP TRIGGER words_shown;")
        if corpus.exists():
            _read(corpus, writer, documents)
        writer.changed = False
        yield writer


def _read(corpus: Corpus, writer: IndexWriter, documents: Sequence[str] | None) -> None:
    entries = [
        entry for entry in corpus.entries() if documents is None or entry.kind not in (DOCUMENT, HIDDEN) or entry.document in documents
    ]
    known = {entry.document for entry in entries if entry.kind == DOCUMENT}
    writer.record_facts(next((entry.value for entry in entries if entry.kind == FACTS), {}))
    _insert(writer, "documents", [_with_digest(entry.value) for entry in entries if entry.kind == DOCUMENT])
    _insert(writer, "files", [entry.value for entry in entries if entry.kind == FILE])
    _insert(writer, "passages", [_with_digest(entry.value | {"text": entry.text}) for entry in entries if entry.kind == HIDDEN])
    # Passages of other documents are left by an interrupted build.
    shown = (passage._asdict() for passage in corpus.passages(documents) if passage.document in known)
    columns = ("id", "document", "label", "text", "metadata", "digest")
    _insert(writer, "passages", (_with_digest({name: row[name] for name in columns}) for row in shown))


def _with_digest(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "digest": bytes.fromhex(value["digest"])}


def _insert(writer: IndexWriter, table: str, rows: Iterable[dict[str, Any]]) -> None:
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        return
    names = ", ".join(first)
    marks = ", ".join(f":{name}" for name in first)
    with writer.writing() as database:
        database.executemany(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", chain([first], remaining))


def metadata_entries(writer: IndexWriter) -> Iterator[MetadataEntry]:
    """Yield the metadata entries of an index writer."""
    yield MetadataEntry(FACTS, FACTS, "", dict(writer.facts()))
    for row in _rows(writer, "SELECT id, root, file, digest, kind FROM documents"):
        yield MetadataEntry(f"{DOCUMENT} {row['id']}", DOCUMENT, row["id"], {**row, "digest": row["digest"].hex()})
    for row in _rows(writer, "SELECT root, source, size, changed_ns, edition, skipped, path FROM files"):
        skipped = json.dumps(json.loads(row["skipped"])[:_MAX_SKIPPED])
        yield MetadataEntry(f"{FILE} {row['root']} {row['source']}", FILE, "", {**row, "skipped": skipped})
    hidden = "SELECT id, document, label, text, metadata, digest, hidden, twin_of FROM passages WHERE hidden IS NOT NULL"
    for row in _rows(writer, hidden):
        value = {name: cell for name, cell in row.items() if name != "text"}
        yield MetadataEntry(f"{HIDDEN} {row['id']}", HIDDEN, row["document"], {**value, "digest": row["digest"].hex()}, row["text"])


def _rows(writer: IndexWriter, sql: str) -> Iterator[dict[str, Any]]:
    cursor = writer.database.execute(sql)
    names = [column[0] for column in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


class Differences(NamedTuple):
    """Changes to a corpus: passages to encode, passages whose vector is stored under another or the same id, and ids to delete."""

    to_encode: list[SearchedPassage]
    reusable: list[tuple[SearchedPassage, str]]
    to_delete: list[str]


def differences(corpus: Corpus, writer: IndexWriter, documents: Sequence[str] | None = None) -> Differences:
    """Return the changes from the corpus, or some of its documents, to an index writer; vectors of known texts are reused."""
    stored = corpus.states(documents) if corpus.exists() else {}
    passages = {searched.id: searched for searched in searched_passages(writer.database)}
    reusable_id = {digest: id for id, (digest, _) in stored.items() if id not in passages or passages[id].digest == digest}
    to_encode, reusable = [], []
    for id, passage in passages.items():
        digest, state = stored.get(id, ("", ""))
        source = id if digest == passage.digest else reusable_id.get(passage.digest)
        if source is None:
            to_encode.append(passage)
        elif source != id or state != passage_state(passage):
            reusable.append((passage, source))
    # The longest first, and equal texts adjacent: batches need little padding, and no text is encoded twice.
    to_encode.sort(key=lambda searched: (-len(searched.text) - len(searched.label), searched.digest, searched.id))
    return Differences(to_encode, reusable, sorted(stored.keys() - passages.keys()))


def write_passages(corpus: Corpus, changes: Differences, options: BuildOptions, renew_lock: Callable[[], None]) -> int:
    """Write and delete the changes in batches; return the number of encoded texts. `renew_lock` is called with each batch."""
    for batch in in_batches(changes.reusable, options.batch_size):
        vectors = corpus.vectors([source for _, source in batch])
        corpus.write([passage for passage, _ in batch], np.stack([vectors[source] for _, source in batch]))
        renew_lock()
    encoded = done = 0
    groups = list(in_batches(changes.to_encode, options.batch_size))
    with closing(options.encoding(options.encoder, (list(_texts(group).values()) for group in groups))) as encodings:
        for group, (texts, encoded_now) in zip(groups, encodings, strict=True):
            of_digest = dict(zip(_texts(group), encoded_now, strict=True))
            corpus.write(group, np.stack([of_digest[passage.digest] for passage in group]))
            encoded, done = encoded + len(texts), done + len(group)
            options.progress(done, len(changes.to_encode), "passages")
            renew_lock()
    corpus.remove(changes.to_delete)
    return encoded


def _texts(passages: Sequence[SearchedPassage]) -> dict[str, str]:
    """Return the distinct texts to embed by digest."""
    return {passage.digest: embedded_text(passage.text, passage.label) for passage in passages}


def write_metadata(corpus: Corpus, writer: IndexWriter, documents: Sequence[str] | None = None) -> list[MetadataEntry]:
    """Write changed metadata entries and delete obsolete ones, of all or some documents; return all entries."""
    stored = {entry.name: entry for entry in corpus.entries()}
    wanted = {entry.name: entry for entry in metadata_entries(writer)}
    corpus.upsert_entries(entry for name, entry in wanted.items() if stored.get(name) != entry)
    own = {name for name, entry in stored.items() if entry.kind in ENTRY_KINDS and (documents is None or entry.document in documents)}
    obsolete = own - wanted.keys()
    corpus.delete_entries(sorted(obsolete))
    return [entry for name, entry in (stored | wanted).items() if name not in obsolete]


@dataclass(frozen=True)
class OpenCollection:
    """An opened corpus; each search sees the current state, which another process may change."""

    corpus: Corpus
    manifest: Manifest

    def __len__(self) -> int:
        return self.manifest.passages

    def search(
        self, queries: Sequence[str], vectors: Matrix, search: SearchOptions, reranker: Reranker | None = None
    ) -> list[list[Passage]]:
        """Return the passages for each query; vectors: of the queries, shape (queries, dimension); `reranker` is ignored."""
        return search_source(_MilvusSearch(self.corpus, self.manifest.dimension), queries, vectors, search)

    def ids(self) -> list[str]:
        """Return the sorted ids of the searchable passages."""
        return sorted(self.corpus.states())

    def by_ids(self, ids: Sequence[str]) -> list[Document]:
        """Return the passages of the ids that exist, in the order of `ids`."""
        documents = _documents(self.corpus, ids)
        return [documents[id] for id in ids if id in documents]


@dataclass
class _MilvusSearch:
    """The source of one search; caches the vectors returned with the rankings."""

    corpus: Corpus
    dimension: int
    _vectors: dict[str, Matrix] = field(default_factory=dict)

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[list[str]]:
        """Return at most n passages for each vector by cosine, ties by id."""
        rankings = self.corpus.nearest(vectors, n, where)
        self._vectors.update(pair for near in rankings for pair in near)
        ranked = []
        for vector, near in zip(vectors, rankings, strict=True):
            cosines = self.vectors([id for id, _ in near]) @ vector
            ranked.append(sorted((-cosine, id) for cosine, (id, _) in zip(cosines, near, strict=True)))
        return [[id for _, id in near] for near in ranked]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[dict[str, float]]:
        """Return at most n passages for each query with their BM25 (higher is better)."""
        rankings = self.corpus.by_words(queries, n, where)
        self._vectors.update((id, vector) for hits in rankings for id, _, vector in hits)
        return [{id: score for id, score, _ in hits} for hits in rankings]

    def vectors(self, ids: Sequence[str]) -> Matrix:
        """Return unit vectors, shape (ids, dimension)."""
        return np.stack([self._vectors[id] for id in ids]) if ids else np.empty((0, self.dimension), dtype=np.float32)

    def sections(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Return the document id and the headings of each passage."""
        rows = self.corpus.get(ids, ["document", "metadata"])
        return [(rows[id]["document"], str(rows[id]["metadata"].get("heading") or "")) if id in rows else ("", "") for id in ids]

    def passages(self, ids: Sequence[str]) -> list[Document | None]:
        """Return the passages; None for one just deleted by another process."""
        documents = _documents(self.corpus, ids)
        return [documents.get(id) for id in ids]


def _documents(corpus: Corpus, ids: Sequence[str]) -> dict[str, Document]:
    rows = corpus.get(ids, ["text", "metadata", "known"])
    return {id: Document(row["text"], id=id, metadata=row["metadata"] | row["known"]) for id, row in rows.items()}


MANIFEST_ENTRY = "manifest"
GENERATION_FIELD = "generation"
"""The field of the manifest with a random id, changed by each publication."""


@dataclass(frozen=True)
class MilvusStore(IndexStore):
    """An index in a collection of Milvus."""

    corpus: Corpus

    @classmethod
    def from_address(cls, where: str) -> "MilvusStore":
        """Return the store of an address; UsageError if it is invalid."""
        return cls(Corpus(parse_address(where)))

    @property
    def where(self) -> str:
        """Return the address."""
        return self.corpus.address.where

    def _stored_manifest(self) -> dict[str, Any] | None:
        return self.corpus.entry(MANIFEST_ENTRY) if self.corpus.exists() else None

    def manifest(self) -> Manifest | None:
        """Return the manifest, None if there is none; IndexingError if it is of another version."""
        stored = self._stored_manifest()
        if stored is None:
            return None
        try:
            manifest = Manifest(**{name: value for name, value in stored.items() if name != GENERATION_FIELD})
            if manifest.layout != LAYOUT:
                raise TypeError(f"layout {manifest.layout!r}, not {LAYOUT}")
        except TypeError as error:
            what = f"the index in {self.where!r} is of another version of ramify ({error})"
            raise IndexingError(what, "build another one: `ramify index PATH… --out` with a new collection name") from error
        return manifest

    def fingerprint(self) -> bytes:
        """Return the manifest as JSON, which changes with each publication."""
        return json.dumps(self._stored_manifest(), sort_keys=True).encode()

    def open(self) -> OpenCollection:
        """Open the corpus; IndexingError if there is none, or its first build has not finished."""
        manifest = self.manifest()
        if manifest is None:
            begun = self.corpus.exists() and next(self.corpus.entries(), None) is not None
            what = f"the index in {self.where!r} is half-written" if begun else f"there is no index in {self.where!r}"
            raise IndexingError(what, f"run `ramify index PATH… --out '{self.where}'`{' again: it resumes' if begun else ''}")
        return OpenCollection(self.corpus, manifest)

    def describe(self, text: str) -> None:
        """Store a description of the index, "" for none."""
        manifest = self.open().manifest
        with corpus_lock(self.corpus):
            self._store_manifest(replace(manifest, description=text))

    @contextmanager
    def writing(
        self, options: BuildOptions, sources: ResolvedSources | None = None, documents: Sequence[str] | None = None
    ) -> Iterator[tuple[IndexWriter, Publish]]:
        """Lock the corpus and yield a working copy of it, or of some documents; publishing is not atomic."""
        if options.vectors not in (None, FULL_PRECISION):
            raise UsageError(f"vectors={options.vectors} is only supported for an index in a folder", "omit --vectors")
        self.manifest()  # raises for another version
        self.corpus.create(options.encoder.dimension)
        if documents is not None and any(entry.kind == HIDDEN for entry in self.corpus.entries()):
            documents = None  # passages have duplicates in other documents
        with corpus_lock(self.corpus) as renew_lock, working_copy(self.corpus, documents) as writer:
            check_settings(writer, options, self.where, "collection")
            yield writer, partial(self._publish, writer, documents, renew_lock)

    def _publish(
        self, writer: IndexWriter, documents: Sequence[str] | None, renew_lock: Callable[[], None], options: BuildOptions
    ) -> tuple[int, Manifest]:
        """Write the passages, the metadata, then the manifest; return the number of encoded texts and the manifest."""
        if documents is None and writer.clean:
            hide_duplicates(writer)
        encoded = write_passages(self.corpus, differences(self.corpus, writer, documents), options, renew_lock)
        entries = write_metadata(self.corpus, writer, documents)
        reasons = [str(entry.value["hidden"]) for entry in entries if entry.kind == HIDDEN]
        hidden = {reason: reasons.count(reason) for reason in sorted(set(reasons))}
        counts = (sum(entry.kind == DOCUMENT for entry in entries), self.corpus.count())
        before = self._stored_manifest()
        manifest = Manifest(
            options.encoder.name, self.corpus.dimension(), *options.chunking, *counts, {}, LAYOUT, *options.encoder.prefixes, hidden,
            label=list(writer.label), description=(before or {}).get("description", ""),
        )  # fmt: skip
        if writer.changed or before is None or {**before, GENERATION_FIELD: ""} != {**asdict(manifest), GENERATION_FIELD: ""}:
            self.corpus.flush()
            self._store_manifest(manifest)
        return encoded, manifest

    def _store_manifest(self, manifest: Manifest) -> None:
        self.corpus.upsert_entries([MetadataEntry(MANIFEST_ENTRY, MANIFEST_ENTRY, "", {**asdict(manifest), GENERATION_FIELD: uuid4().hex})])
