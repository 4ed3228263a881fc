"""Two collections of Milvus for each corpus: passages that are searched, and the ledger beside them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ramify.tools.embeddings.encoder import Matrix
from ramify.tools.errors import IndexingError
from ramify.tools.index.passage_store import Filter
from ramify.tools.milvus.connection import Address, telling
from ramify.tools.milvus.ledger import STRONG, Budget, blocks
from ramify.tools.milvus.schema import Row, condition, create_ledger, create_passages, words_asked

_EF_SEARCH = 128
Near = list[tuple[str, Matrix]]

_loaded: set[Address] = set()
"""What is known to be in the server's memory; a file's is not when it is opened."""


@dataclass(frozen=True)
class Store(Budget):
    """Read and write the rows of one tenant; each call may wait for the server."""

    def exists(self) -> bool:
        """Tell whether there are collections for the corpus, and have them in memory."""
        if self.address.local and not Path(self.address.uri).exists():  # to connect would make the file
            return False
        with telling(self.address):
            there = bool(self._client.has_collection(self._ledger))
            if there and self.address not in _loaded:
                for name in (self.address.collection, self._ledger):
                    self._client.load_collection(name)
                _loaded.add(self.address)
        return there

    def create(self, dimension: int) -> None:
        """Make the collections that are missing; IndexingError where what is there holds vectors of another length."""
        with telling(self.address):
            if not self._client.has_collection(self.address.collection):
                create_passages(self._client, self.address.collection, dimension)
            held = self.dimension()
            if held != dimension:
                what = f"the collection {self.address.collection!r} holds vectors of length {held}, not {dimension}"
                raise IndexingError(what, "ask for the embedding that it was made with, or give another collection")
            if not self._client.has_collection(self._ledger):
                create_ledger(self._client, self._ledger)
        self.exists()

    def dimension(self) -> int:
        """Return the length of the vectors."""
        fields = self._client.describe_collection(self.address.collection)["fields"]
        return next((int(field["params"]["dim"]) for field in fields if field["name"] == "vector"), 0)

    def states(self, documents: Sequence[str] | None = None) -> dict[str, tuple[str, str]]:
        """Read the digest and the state of every passage, or of those of some documents, by id."""
        found = self._rows(["id", "digest", "state"], documents)
        return {row["id"]: (row["digest"], row["state"]) for row in found}

    def rows(self, documents: Sequence[str] | None = None) -> Iterator[Row]:
        """Read every passage, or those of some documents, without their vectors."""
        for row in self._rows([*Row._fields], documents):
            values = {name: json.dumps(row[name]) if name in ("metadata", "known") else row[name] for name in Row._fields}
            yield Row(**values)

    def _rows(self, fields: list[str], documents: Sequence[str] | None) -> Iterator[dict[str, Any]]:
        name = self.address.collection
        if documents is None:
            yield from self._each(name, self._own, fields)
            return
        for block in blocks(documents):
            yield from self._each(name, f"{self._own} and document in {json.dumps(block)}", fields)

    def count(self) -> int:
        """Count the passages."""
        with telling(self.address):
            found = self._client.query(self.address.collection, filter=self._own, output_fields=["count(*)"], consistency_level=STRONG)
        return int(found[0]["count(*)"])

    def write(self, rows: Sequence[Row], vectors: Matrix) -> None:
        """Write passages with their vectors."""
        own = {"tenant": self.address.tenant}
        told = [
            {"key": self.key(row.id), **own, **row.fields(), "vector": vector.tolist()} for row, vector in zip(rows, vectors, strict=True)
        ]
        self._upsert(self.address.collection, told)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages."""
        self._delete(self.address.collection, ids)

    def flush(self) -> None:
        """Have what was written sealed and indexed."""
        with telling(self.address):
            self._client.flush(self.address.collection)

    def get(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Read fields of the passages that exist, by id."""
        found = {}
        with telling(self.address):
            for block in blocks([self.key(id) for id in ids]):
                for row in self._client.get(self.address.collection, block, output_fields=["id", *fields]):
                    found[row["id"]] = row
        return found

    def vectors(self, ids: Sequence[str]) -> dict[str, Matrix]:
        """Read vectors of unit length, by id."""
        return {id: np.asarray(row["vector"], dtype=np.float32) for id, row in self.get(ids, ["vector"]).items()}

    def nearest(self, vectors: Matrix, n: int, where: Filter | None) -> list[Near]:
        """Search by vectors: ids with their vectors, nearest first."""
        wide = {"params": {"ef": max(_EF_SEARCH, 2 * n)}}
        found = self._search([vector.tolist() for vector in vectors], "vector", n, where, search_params=wide)
        return [[(hit["entity"]["id"], np.asarray(hit["entity"]["vector"], dtype=np.float32)) for hit in hits] for hits in found]

    def by_words(self, queries: Sequence[str], n: int, where: Filter | None) -> list[list[tuple[str, float, Matrix]]]:
        """Search by words: ids with their BM25, greater is better, and their vectors; a query without words finds nothing."""
        asked = [words_asked(query) for query in queries]
        worded = [words for words in asked if words]
        found = iter(self._search(worded, "sparse", n, where) if worded else ())
        # A file gives scores below nought, the best the lowest; a server those above.
        return [
            [(hit["entity"]["id"], abs(hit["distance"]), np.asarray(hit["entity"]["vector"], dtype=np.float32)) for hit in next(found)]
            if words
            else []
            for words in asked
        ]

    def _search(self, data: list[Any], field: str, n: int, where: Filter | None, **how: Any) -> Any:
        with telling(self.address):
            return self._client.search(
                self.address.collection, data=data, anns_field=field, limit=n, filter=condition(self.address.tenant, where),
                output_fields=["id", "vector"], **how,
            )  # fmt: skip
