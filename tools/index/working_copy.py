"""The working copy of `passages.sqlite` while an index is being written."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ramify.tools.embeddings.encoder import Matrix, Prefixes
from ramify.tools.errors import InputError
from ramify.tools.index.chunking import embedded_text
from ramify.tools.index.ids import text_digest
from ramify.tools.index.schema import LEFT_OUT, SCHEMA, Entry, Held, metadata_json
from ramify.tools.index.search_words import searchable
from ramify.tools.new_files import make_file

_BLOCK = 16_384
_NOTED = 10_000
"""Names that are kept of what was left out."""


class Draft:
    """Write documents, passages and vectors; each call that writes is one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changed = False
        self.database = self._db = sqlite3.connect(make_file(path).absolute(), check_same_thread=False)
        self._db.create_function("searchable", 1, searchable, deterministic=True)
        self._db.executescript(SCHEMA)

    def __enter__(self) -> "Draft":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def discard(self) -> None:
        """Close the file and delete it."""
        self.close()
        self.path.unlink()

    def whole(self) -> bool:
        """Tell whether SQLite finds no damage."""
        return bool(self._db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))

    def facts(self) -> dict[str, str]:
        """Return what the draft remembers of how it is made."""
        return dict(self._db.execute("SELECT name, value FROM facts"))

    @property
    def prefixes(self) -> Prefixes:
        """Return what is put before questions and passages when they are embedded."""
        facts = self.facts()
        return Prefixes(facts.get("query_prefix"), facts.get("document_prefix"))

    @property
    def compared(self) -> bool:
        """Tell whether twins have been looked for since the last change."""
        return "compared" in self.facts()

    def _touch(self) -> None:
        """Note, within a transaction, that what is held has changed."""
        self.changed = True
        self._db.execute("DELETE FROM facts WHERE name = 'compared'")

    @property
    def clean(self) -> bool:
        """Tell whether what only lists, licenses or repeats is left out of search."""
        return self.facts().get("clean", "yes") == "yes"

    @property
    def label(self) -> tuple[str, ...]:
        """List the metadata fields that passages are embedded and searched under, beside title and headings."""
        return tuple(filter(None, self.facts().get("label", "").split(",")))

    def remember(self, facts: dict[str, str]) -> None:
        """Keep how the draft is made, to refuse going on otherwise."""
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def note_left_out(self, skipped: Sequence[tuple[str, str]]) -> None:
        """Keep what this run left out, a file or `file#record` with the reason, for whoever inspects the index."""
        told = json.dumps(sorted(skipped)[:_NOTED], ensure_ascii=False)
        if told != self.facts().get(LEFT_OUT, "[]"):
            self.remember({LEFT_OUT: told})
            self.changed = True

    def held(self, identity: str) -> Held | None:
        """Return what is held under a document's id."""
        found = self._db.execute("SELECT root, file, digest, kind FROM documents WHERE id = ?", [identity]).fetchone()
        return Held(*found) if found else None

    def write(self, entries: Iterable[Entry]) -> None:
        """Write documents, replacing those of the same ids."""
        with self._db:
            for entry in entries:
                self._touch()
                self._db.execute("DELETE FROM passages WHERE document = ?", [entry.id])
                row = [entry.id, entry.root, entry.file, entry.digest, entry.kind]
                self._db.execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", row)
                self._insert_passages(entry)

    def _insert_passages(self, entry: Entry) -> None:
        sql = "INSERT INTO passages (id, document, label, text, metadata, digest, hidden) VALUES (?, ?, ?, ?, ?, ?, ?)"
        leaves_out = bool(entry.kind) and self.clean
        for passage in entry.passages:
            digest = text_digest(embedded_text(passage.page_content, entry.label))
            hidden = passage.metadata.get("role") if leaves_out else None
            row = [passage.id, entry.id, entry.label, passage.page_content, metadata_json(passage.metadata), digest, hidden]
            try:
                self._db.execute(sql, row)
            except sqlite3.IntegrityError as error:
                raise InputError(f"two passages would be called {passage.id!r}", "give records ids that do not end in ~NUMBER") from error

    def adopt(self, identity: str, root: str, file: str) -> None:
        """Note that an unchanged document now belongs to another path; the file that had it is no longer known as read."""
        with self._db:
            self._db.execute("DELETE FROM files WHERE (root, source) IN (SELECT root, file FROM documents WHERE id = ?)", [identity])
            self._db.execute("UPDATE documents SET root = ?, file = ? WHERE id = ?", [root, file, identity])
            self.changed = True

    def absent(self, roots: Iterable[str], seen: Iterable[str]) -> list[str]:
        """Return the ids of documents found under the roots before and not seen now."""
        kept = set(seen)
        sql = "SELECT id FROM documents WHERE root IN (SELECT value FROM json_each(?)) ORDER BY id"
        return [identity for (identity,) in self._db.execute(sql, [json.dumps(list(roots))]) if identity not in kept]

    def remove(self, ids: Sequence[str]) -> None:
        """Remove documents with their passages, or single passages; a document goes with its last passage."""
        with self._db:
            for identity in ids:
                removed = self._db.execute("DELETE FROM passages WHERE document = ?1 OR id = ?1", [identity]).rowcount
                if removed:
                    self._touch()
            self._db.execute("DELETE FROM documents WHERE id NOT IN (SELECT document FROM passages)")

    def unencoded(self) -> list[int]:
        """Return one row of each text that has no vector, the longest first: texts of like length are encoded together, without padding."""
        sql = """SELECT min(row) FROM passages WHERE hidden IS NULL AND digest NOT IN (SELECT digest FROM vectors)
            GROUP BY digest ORDER BY length(text) + length(label) DESC, 1"""
        return [row for (row,) in self._db.execute(sql)]

    def embedded_texts(self, rows: Sequence[int]) -> list[str]:
        """Return what is to be embedded for some rows, in their order."""
        sql = "SELECT row, text, label FROM passages WHERE row IN (SELECT value FROM json_each(?))"
        found = {row: embedded_text(text, label) for row, text, label in self._db.execute(sql, [json.dumps(list(rows))])}
        return [found[row] for row in rows]

    def keep_vectors(self, texts: Sequence[str], vectors: Matrix) -> None:
        """Keep the vectors of embedded texts."""
        pairs = [(text_digest(text), vector.astype("<f4").tobytes()) for text, vector in zip(texts, vectors, strict=True)]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", pairs)
        self.changed = True

    def finish(self) -> tuple[int, int]:
        """Drop vectors no passage needs, tidy the word index, and count documents and the passages that are searched."""
        with self._db:
            self._db.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM passages WHERE hidden IS NULL)")
            self._db.execute("DELETE FROM sketches WHERE digest NOT IN (SELECT digest FROM passages)")
            self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
        return self.count("documents"), self.count("passages") - sum(self.hidden().values())

    def hidden(self) -> dict[str, int]:
        """Count the passages that are kept and not searched, by the reason."""
        sql = "SELECT hidden, count(*) FROM passages WHERE hidden IS NOT NULL GROUP BY hidden ORDER BY hidden"
        return dict(self._db.execute(sql))

    def count(self, table: str) -> int:
        """Count the rows of a table."""
        return int(self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def dimension(self) -> int | None:
        """Return the length of the vectors, None where there are none."""
        found = self._db.execute("SELECT length(vector) FROM vectors LIMIT 1").fetchone()
        return found[0] // np.dtype(np.float32).itemsize if found else None

    def sample(self, dimension: int) -> Matrix:
        """Return some vectors as if drawn by lot: the first in order of the digests of their texts."""
        found = [vector for (vector,) in self._db.execute("SELECT vector FROM vectors ORDER BY digest LIMIT ?", [_BLOCK])]
        return np.frombuffer(b"".join(found), dtype="<f4").reshape(len(found), dimension)

    def vectors(self, dimension: int) -> Iterator[Matrix]:
        """Yield all vectors in order of passage id, in blocks."""
        found = self._db.execute("SELECT vector FROM passages JOIN vectors USING (digest) WHERE hidden IS NULL ORDER BY id")
        while block := found.fetchmany(_BLOCK):
            yield np.frombuffer(b"".join(vector for (vector,) in block), dtype="<f4").reshape(len(block), dimension)
