"""The connection to Milvus, the two collections of a corpus, and passages as rows.

A row has the searchable fields of a passage (vector, words, facets), its text, and its ids.
"""

import hashlib
import json
import logging
import os
import re
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from ramify.tools.errors import IndexingError, InputError, RamifyError, UsageError
from ramify.tools.index.full_text import search_words, segment_words
from ramify.tools.index.passage_store import Filter, SearchedPassage, filter_choices
from ramify.tools.new_files import make_folder
from ramify.tools.scrub import mask_address, register_address
from ramify.tools.user_input import expand_path

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient
    from Stemmer import Stemmer

MAX_FIELD_BYTES = 65_535
"""Maximum bytes of a field: a text, or metadata as JSON."""
MAX_FACETS = 4096
LABEL_WEIGHT = 2
"""Number of times a label's words count, as in an index in a folder."""
MATCH_NONE = 'key == ""'
"""A filter expression that matches no row."""
_MAX_ID_BYTES, _MAX_DIGEST_BYTES = 4096, 64
_NEIGHBOURS, _EF_CONSTRUCTION = 32, 80
_WORD = re.compile(r"[^\W_]+")


def passage_state(passage: SearchedPassage) -> str:
    """Return a digest of all fields of a passage."""
    return hashlib.sha256(json.dumps(passage).encode()).hexdigest()


def passage_row(passage: SearchedPassage) -> dict[str, Any]:
    """Return a passage as a row of the collection; InputError if a field is too long for Milvus."""
    metadata = json.loads(passage.metadata)
    words = _stems(passage.label, passage.text)
    for name, value in (("text", passage.text), ("metadata", passage.metadata), ("words", words)):
        if len(value.encode()) > MAX_FIELD_BYTES:
            what = f"the {name} of the passage {passage.id!r} {'is' if name != 'words' else 'are'} longer than {MAX_FIELD_BYTES:,} bytes"
            raise InputError(what, "Milvus has this limit: use smaller passages (--chunk-tokens), or an index in a folder")
    each = ((name, item) for name, value in metadata.items() for item in (value if isinstance(value, list) else [value]))
    facets = sorted({facet_digest(name, item) for name, item in each if not isinstance(item, (dict, list))})
    if len(facets) > MAX_FACETS:
        what = f"the passage {passage.id!r} has {len(facets):,} values of metadata"
        raise InputError(what, f"Milvus is limited to {MAX_FACETS:,}: remove some, or use an index in a folder")
    parsed = {"metadata": metadata, "known": json.loads(passage.known)}
    return passage._asdict() | parsed | {"state": passage_state(passage), "words": words, "facets": facets}


def query_text(query: str) -> str:
    """Return a question's stemmed words, separated by spaces."""
    return " ".join(dict.fromkeys(_stem(word) for word in search_words(query)))


def _stems(label: str, text: str) -> str:
    """Return the stemmed words of label and text, as milvus-lite has no stemmer of its own."""
    return " ".join(_stem(word) for part in (*[label] * LABEL_WEIGHT, text) for word in _WORD.findall(segment_words(part.lower())))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if not word.isascii():
        word = unicodedata.normalize(
            "NFC", "".join(character for character in unicodedata.normalize("NFD", word) if not unicodedata.combining(character))
        )
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> "Stemmer":
    from Stemmer import Stemmer

    return Stemmer("porter")  # the stemmer of SQLite's FTS5


def facet_digest(name: str, value: Any) -> str:
    """Return the digest of a field and a value (equal numbers give one digest), which filters compare."""
    normalized = float(value) if isinstance(value, (bool, int, float)) else value
    return hashlib.sha256(json.dumps([name, normalized]).encode()).hexdigest()[:32]


def filter_expression(tenant: str, where: Filter | None) -> str:
    """Return a filter as an expression of Milvus; it contains only digests, no user input."""
    parts = [f'tenant == "{tenant}"']
    for name, wanted in (where or {}).items():
        choices = filter_choices(name, wanted)
        parts.append(
            f"array_contains_any(facets, {json.dumps([facet_digest(name, choice) for choice in choices])})" if choices else MATCH_NONE
        )
    return " and ".join(parts)


def create_passages(client: "MilvusClient", name: str, dimension: int) -> None:
    """Create the collection of passages, with an HNSW index of vectors and Milvus's BM25 of words."""
    from pymilvus import DataType, Function, FunctionType

    schema = _base_schema()
    schema.add_field("id", DataType.VARCHAR, max_length=_MAX_ID_BYTES)
    schema.add_field("document", DataType.VARCHAR, max_length=_MAX_ID_BYTES)
    for field in ("label", "text"):
        schema.add_field(field, DataType.VARCHAR, max_length=MAX_FIELD_BYTES)
    for field in ("metadata", "known"):
        schema.add_field(field, DataType.JSON)
    for field in ("digest", "state"):
        schema.add_field(field, DataType.VARCHAR, max_length=_MAX_DIGEST_BYTES)
    facets = {"element_type": DataType.VARCHAR, "max_capacity": MAX_FACETS, "max_length": _MAX_DIGEST_BYTES}
    schema.add_field("facets", DataType.ARRAY, **facets)
    schema.add_field("words", DataType.VARCHAR, max_length=MAX_FIELD_BYTES, enable_analyzer=True, analyzer_params={"tokenizer": "standard"})
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    ranked = {"input_field_names": ["words"], "output_field_names": ["sparse"]}
    schema.add_function(Function(name="bm25", function_type=FunctionType.BM25, **ranked))
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="HNSW", metric_type="COSINE", params={"M": _NEIGHBOURS, "efConstruction": _EF_CONSTRUCTION})
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params={"bm25_k1": 1.2, "bm25_b": 0.75})
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Session")


def create_metadata(client: "MilvusClient", name: str) -> None:
    """Create the collection of metadata for later builds."""
    from pymilvus import DataType

    schema = _base_schema()
    schema.add_field("name", DataType.VARCHAR, max_length=_MAX_ID_BYTES + _MAX_DIGEST_BYTES)
    schema.add_field("kind", DataType.VARCHAR, max_length=_MAX_DIGEST_BYTES)
    schema.add_field("document", DataType.VARCHAR, max_length=_MAX_ID_BYTES)
    schema.add_field("value", DataType.JSON)
    schema.add_field("text", DataType.VARCHAR, max_length=MAX_FIELD_BYTES)
    schema.add_field("blank", DataType.FLOAT_VECTOR, dim=2)  # Milvus requires a vector field
    indexes = client.prepare_index_params()
    indexes.add_index("blank", index_type="FLAT", metric_type="COSINE", params={})
    client.create_collection(name, schema=schema, index_params=indexes, consistency_level="Session")


def _base_schema() -> "CollectionSchema":
    from pymilvus import DataType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=_MAX_ID_BYTES + 2 * _MAX_DIGEST_BYTES, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=2 * _MAX_DIGEST_BYTES, is_partition_key=True)
    return schema


SCHEME = "milvus:"
ADDRESS_FORMS = (
    "write it as milvus:http://HOST:19530/COLLECTION, with a database as …/DATABASE/COLLECTION, or for a file as milvus:FILE.db/COLLECTION"
)
_NAME = re.compile(r"[A-Za-z_]\w{0,200}", re.ASCII)
_TENANT = re.compile(r"[\w.-]{1,100}", re.ASCII)
TOKEN_VARIABLE = "MILVUS_TOKEN"
"""The environment variable with a server's token or user:password, which an address may also have before the host."""
_TIMEOUT_S = 10.0
_INSTALL = "run `pip install 'ramify-rag[milvus]'`"

_clients: dict[tuple[str, str], "MilvusClient"] = {}
_connecting = threading.Lock()


class Address(NamedTuple):
    """The address of a corpus. uri: of a server, or the absolute path of a file."""

    uri: str
    collection: str
    database: str = ""
    tenant: str = ""

    @property
    def local(self) -> bool:
        """Return whether it is a local file."""
        return "://" not in self.uri

    @property
    def where(self) -> str:
        """Return the address in the form of the command line, without credentials."""
        place = "/".join(filter(None, (self.uri if self.local else mask_address(self.uri), self.database, self.collection)))
        return f"{SCHEME}{place}{f':{self.tenant}' if self.tenant else ''}"


def parse_address(where: str) -> Address:
    """Parse an address; UsageError if it is invalid."""
    uri, _, name = where.removeprefix(SCHEME).rpartition("/")
    if "://" in uri:
        register_address(uri)
    collection, several, tenant = name.partition(":")
    if not uri or not _NAME.fullmatch(collection) or (several and not _TENANT.fullmatch(tenant)):
        raise UsageError(f"{mask_address(where)!r} is not the address of an index in Milvus", ADDRESS_FORMS)
    if "://" not in uri:
        file = expand_path(uri)
        if file.suffix != ".db":
            raise UsageError(f"{uri!r} is neither a server nor a file of Milvus", ADDRESS_FORMS)
        return Address(str(file.resolve()), collection, "", tenant)
    parts = urlsplit(uri)
    database = parts.path.strip("/")
    if parts.scheme not in ("http", "https", "tcp") or not parts.hostname or (database and not _NAME.fullmatch(database)):
        raise UsageError(f"{mask_address(where)!r} is not the address of an index in Milvus", ADDRESS_FORMS)
    return Address(uri.removesuffix(parts.path), collection, database, tenant)


def connect(address: Address) -> "MilvusClient":
    """Return the cached connection to a server or file; IndexingError if it cannot be established."""
    key = (address.uri, address.database)
    with _connecting, milvus_errors(address):
        if key in _clients:
            return _clients[key]
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it would log exceptions it raises, with a traceback
        if address.local:
            try:
                import milvus_lite  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
            except ImportError as error:
                raise RamifyError("milvus-lite, which reads a file of Milvus, is not installed", _INSTALL) from error
            make_folder(Path(address.uri).parent)
            _clients[key] = MilvusClient(address.uri)
        else:
            parts = urlsplit(address.uri)
            credentials = unquote(parts.netloc.rpartition("@")[0]) or os.environ.get(TOKEN_VARIABLE, "")
            uri = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            _clients[key] = MilvusClient(uri, token=credentials, db_name=address.database, timeout=_TIMEOUT_S)
        return _clients[key]


@contextmanager
def milvus_errors(address: Address) -> Iterator[None]:
    """Raise errors of Milvus as IndexingError; RamifyError if its client is not installed."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it would log to stderr
    try:
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException
    except ImportError as error:
        raise RamifyError("the client of Milvus is not installed", _INSTALL) from error
    try:
        yield
    except (MilvusException, RpcError) as error:
        raise _indexing_error(address, error) from error


def _indexing_error(address: Address, error: Exception) -> IndexingError:
    reason = " ".join(str(getattr(error, "message", "") or error).split())[:300]
    if address.local and "Open local milvus failed" in reason:
        remedy = "stop the other process, or use a server, which several processes can share"
        return IndexingError(f"another process has opened {address.uri!r}, or it is not a Milvus file", remedy)
    if any(sign in reason for sign in ("UNAUTHENTICATED", "auth check failure", "unauthenticated")):
        remedy = f"set {TOKEN_VARIABLE} to its token or to user:password"
        return IndexingError(f"Milvus at {mask_address(address.uri)} refuses access", remedy)
    remedy = "check the address, and that the server is running" if not address.local else "check the file"
    return IndexingError(f"Milvus at {mask_address(address.uri)} says: {reason}", remedy)
