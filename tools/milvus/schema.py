"""The two collections of a corpus in Milvus, and a passage as a row of one.

A row has what a passage is found by (vector, words, facets), what it says, and what it is known again by.
"""

import hashlib
import json
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ramify.tools.errors import InputError
from ramify.tools.index.full_text import query_words, searchable
from ramify.tools.index.passage_store import Filter, SearchedPassage, choices_of

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient
    from Stemmer import Stemmer

LONGEST = 65_535
"""Bytes of a text, and of metadata as JSON, that a field holds."""
MOST_FACETS = 4096
LABEL_WEIGHT = 2
"""A label's words count so many times, as in an index in a folder."""
NOTHING = 'key == ""'
"""What no row is."""
_ID, _DIGEST = 4096, 64
_NEIGHBOURS, _EF_CONSTRUCTION = 32, 80
_WORD = re.compile(r"[^\W_]+")


class Row(NamedTuple):
    """A passage that is searched, without its vector. known: the path of its file, and where its twins stand."""

    id: str
    document: str
    label: str
    text: str
    metadata: str
    digest: str
    known: str

    @classmethod
    def of(cls, passage: SearchedPassage) -> "Row":
        """Return the row of a passage."""
        known = json.dumps(passage.known, sort_keys=True)
        return cls(passage.id, passage.document, passage.label, passage.text, passage.metadata, passage.digest.hex(), known)

    @property
    def state(self) -> str:
        """Return a digest of all of it."""
        return hashlib.sha256(json.dumps(self).encode()).hexdigest()

    def fields(self) -> dict[str, Any]:
        """Return the fields of the collection; InputError where one is too long for Milvus."""
        metadata = json.loads(self.metadata)
        for name, value in (("text", self.text), ("metadata", self.metadata), ("words", words := _stems(self.label, self.text))):
            if len(value.encode()) > LONGEST:
                what = f"the {name} of the passage {self.id!r} {'is' if name != 'words' else 'are'} longer than {LONGEST:,} bytes"
                raise InputError(what, "Milvus holds no longer ones: take smaller passages (--chunk-tokens), or an index in a folder")
        each = ((name, one) for name, value in metadata.items() for one in (value if isinstance(value, list) else [value]))
        facets = sorted({facet(name, one) for name, one in each if not isinstance(one, (dict, list))})
        if len(facets) > MOST_FACETS:
            what = f"the passage {self.id!r} has {len(facets):,} values of metadata"
            raise InputError(what, f"Milvus holds {MOST_FACETS:,}: leave some out, or take an index in a folder")
        return {
            "id": self.id, "document": self.document, "label": self.label, "text": self.text, "metadata": metadata,
            "digest": self.digest, "known": json.loads(self.known), "state": self.state, "words": words, "facets": facets,
        }  # fmt: skip


def words_asked(query: str) -> str:
    """Write a question's words as they are written in a collection."""
    return " ".join(dict.fromkeys(_stem(word) for word in query_words(query)))


def _stems(label: str, text: str) -> str:
    """Write words as stems: a file and a server of Milvus read plain words alike, but only a server has stems of its own."""
    return " ".join(_stem(word) for part in (*[label] * LABEL_WEIGHT, text) for word in _WORD.findall(searchable(part.lower())))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if not word.isascii():
        word = unicodedata.normalize("NFC", "".join(one for one in unicodedata.normalize("NFD", word) if not unicodedata.combining(one)))
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> "Stemmer":
    from Stemmer import Stemmer

    return Stemmer("porter")  # that of SQLite's full-text search


def facet(name: str, value: Any) -> str:
    """Return what stands for a field with a value, equal numbers being one value: filters compare nothing but these."""
    plain = float(value) if isinstance(value, (bool, int, float)) else value
    return hashlib.sha256(json.dumps([name, plain]).encode()).hexdigest()[:32]


def condition(tenant: str, where: Filter | None) -> str:
    """Write what a row must have as an expression of Milvus; it holds digests, and nothing that was typed."""
    parts = [f'tenant == "{tenant}"']
    for name, wanted in (where or {}).items():
        choices = choices_of(name, wanted)
        parts.append(f"array_contains_any(facets, {json.dumps([facet(name, choice) for choice in choices])})" if choices else NOTHING)
    return " and ".join(parts)


def create_passages(client: "MilvusClient", name: str, dimension: int) -> None:
    """Make the collection that is searched: by vectors along a graph, by words with Milvus's own BM25."""
    from pymilvus import DataType, Function, FunctionType

    schema = _keyed()
    schema.add_field("id", DataType.VARCHAR, max_length=_ID)
    schema.add_field("document", DataType.VARCHAR, max_length=_ID)
    for field in ("label", "text"):
        schema.add_field(field, DataType.VARCHAR, max_length=LONGEST)
    for field in ("metadata", "known"):
        schema.add_field(field, DataType.JSON)
    for field in ("digest", "state"):
        schema.add_field(field, DataType.VARCHAR, max_length=_DIGEST)
    facets = {"element_type": DataType.VARCHAR, "max_capacity": MOST_FACETS, "max_length": _DIGEST}
    schema.add_field("facets", DataType.ARRAY, **facets)
    schema.add_field("words", DataType.VARCHAR, max_length=LONGEST, enable_analyzer=True, analyzer_params={"tokenizer": "standard"})
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    ranked = {"input_field_names": ["words"], "output_field_names": ["sparse"]}
    schema.add_function(Function(name="bm25", function_type=FunctionType.BM25, **ranked))
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="HNSW", metric_type="COSINE", params={"M": _NEIGHBOURS, "efConstruction": _EF_CONSTRUCTION})
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params={"bm25_k1": 1.2, "bm25_b": 0.75})
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Session")


def create_metadata(client: "MilvusClient", name: str) -> None:
    """Make the collection of all else that a later build has to know."""
    from pymilvus import DataType

    schema = _keyed()
    schema.add_field("name", DataType.VARCHAR, max_length=_ID + _DIGEST)
    schema.add_field("kind", DataType.VARCHAR, max_length=_DIGEST)
    schema.add_field("document", DataType.VARCHAR, max_length=_ID)
    schema.add_field("value", DataType.JSON)
    schema.add_field("text", DataType.VARCHAR, max_length=LONGEST)
    schema.add_field("blank", DataType.FLOAT_VECTOR, dim=2)  # Milvus holds no collection without vectors
    indexes = client.prepare_index_params()
    indexes.add_index("blank", index_type="FLAT", metric_type="COSINE", params={})
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Session")


def _keyed() -> "CollectionSchema":
    from pymilvus import DataType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=_ID + 2 * _DIGEST, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=2 * _DIGEST, is_partition_key=True)
    return schema
