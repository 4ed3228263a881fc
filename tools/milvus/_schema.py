"""A connection to Milvus, the two collections of a corpus in it, and a passage as a row of one.

A row has what a passage is found by (vector, words, facets), its text, and its identity.
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
from ramify.tools.index.full_text import query_words, searchable
from ramify.tools.index.passage_store import Filter, SearchedPassage, choices_of
from ramify.tools.new_files import make_folder
from ramify.tools.scrub import mask_address, register_address
from ramify.tools.user_input import expand_path

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


def state_of(passage: SearchedPassage) -> str:
    """Return a digest of all of a passage."""
    return hashlib.sha256(json.dumps(passage).encode()).hexdigest()


def fields_of(passage: SearchedPassage) -> dict[str, Any]:
    """Return a passage as a row of the collection; InputError where a field is too long for Milvus."""
    metadata = json.loads(passage.metadata)
    words = _stems(passage.label, passage.text)
    for name, value in (("text", passage.text), ("metadata", passage.metadata), ("words", words)):
        if len(value.encode()) > LONGEST:
            what = f"the {name} of the passage {passage.id!r} {'is' if name != 'words' else 'are'} longer than {LONGEST:,} bytes"
            raise InputError(what, "Milvus holds no longer ones: take smaller passages (--chunk-tokens), or an index in a folder")
    each = ((name, one) for name, value in metadata.items() for one in (value if isinstance(value, list) else [value]))
    facets = sorted({facet(name, one) for name, one in each if not isinstance(one, (dict, list))})
    if len(facets) > MOST_FACETS:
        what = f"the passage {passage.id!r} has {len(facets):,} values of metadata"
        raise InputError(what, f"Milvus holds {MOST_FACETS:,}: leave some out, or take an index in a folder")
    parsed = {"metadata": metadata, "known": json.loads(passage.known)}
    return passage._asdict() | parsed | {"state": state_of(passage), "words": words, "facets": facets}


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


SCHEME = "milvus:"
FORMS = (
    "write it as milvus:http://HOST:19530/COLLECTION, with a database as …/DATABASE/COLLECTION, or for a file as milvus:FILE.db/COLLECTION"
)
_NAME = re.compile(r"[A-Za-z_]\w{0,200}", re.ASCII)
_TENANT = re.compile(r"[\w.-]{1,100}", re.ASCII)
TOKEN = "MILVUS_TOKEN"
"""The environment variable with a server's token, or with user:password; in an address they may stand before the host."""
_PATIENCE_S = 10.0
_INSTALL = "run `pip install 'ramify-rag[milvus]'`"

_clients: dict[tuple[str, str], "MilvusClient"] = {}
_connecting = threading.Lock()


class Address(NamedTuple):
    """Where a corpus lies. uri: a server's, or the full path of a file."""

    uri: str
    collection: str
    database: str = ""
    tenant: str = ""

    @property
    def local(self) -> bool:
        """Return whether it is a file of this machine."""
        return "://" not in self.uri

    @property
    def where(self) -> str:
        """Write it as the command line takes it, without credentials."""
        place = "/".join(filter(None, (self.uri if self.local else mask_address(self.uri), self.database, self.collection)))
        return f"{SCHEME}{place}{f':{self.tenant}' if self.tenant else ''}"


def parse_address(where: str) -> Address:
    """Read an address; UsageError where it is none."""
    uri, _, name = where.removeprefix(SCHEME).rpartition("/")
    if "://" in uri:
        register_address(uri)
    collection, several, tenant = name.partition(":")
    if not uri or not _NAME.fullmatch(collection) or (several and not _TENANT.fullmatch(tenant)):
        raise UsageError(f"{mask_address(where)!r} is no address of an index in Milvus", FORMS)
    if "://" not in uri:
        file = expand_path(uri)
        if file.suffix != ".db":
            raise UsageError(f"{uri!r} is neither a server nor a file of Milvus", FORMS)
        return Address(str(file.resolve()), collection, "", tenant)
    parts = urlsplit(uri)
    database = parts.path.strip("/")
    if parts.scheme not in ("http", "https", "tcp") or not parts.hostname or (database and not _NAME.fullmatch(database)):
        raise UsageError(f"{mask_address(where)!r} is no address of an index in Milvus", FORMS)
    return Address(uri.removesuffix(parts.path), collection, database, tenant)


def connect(address: Address) -> "MilvusClient":
    """Return the connection to a server or a file, the same one each time; IndexingError where there is none to be had."""
    key = (address.uri, address.database)
    with _connecting, milvus_errors(address):
        if key in _clients:
            return _clients[key]
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs what it raises, with a traceback
        if address.local:
            try:
                import milvus_lite  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: F401
            except ImportError as error:
                raise RamifyError("milvus-lite, which reads a file of Milvus, is not installed", _INSTALL) from error
            make_folder(Path(address.uri).parent)
            _clients[key] = MilvusClient(address.uri)
        else:
            parts = urlsplit(address.uri)
            credentials = unquote(parts.netloc.rpartition("@")[0]) or os.environ.get(TOKEN, "")
            uri = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            _clients[key] = MilvusClient(uri, token=credentials, db_name=address.database, timeout=_PATIENCE_S)
        return _clients[key]


@contextmanager
def milvus_errors(address: Address) -> Iterator[None]:
    """Raise what goes wrong with Milvus as an IndexingError; RamifyError where its client is missing."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it logs on stderr how often it greets a file's server; what fails is raised
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
        remedy = "close the other, or give a server's address: several processes may use that at once"
        return IndexingError(f"another process holds {address.uri!r}, or it is no file of Milvus", remedy)
    if any(sign in reason for sign in ("UNAUTHENTICATED", "auth check failure", "unauthenticated")):
        remedy = f"set {TOKEN} to its token or to user:password"
        return IndexingError(f"Milvus at {mask_address(address.uri)} refuses access", remedy)
    remedy = "check the address, and that the server runs" if not address.local else "check the file"
    return IndexingError(f"Milvus at {mask_address(address.uri)} says: {reason}", remedy)
