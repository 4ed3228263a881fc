"""The two collections of a corpus in Milvus: their fields, and the indexes over these."""

from typing import TYPE_CHECKING

from ramify.tools.milvus.rows import LONGEST, MOST_FACETS

if TYPE_CHECKING:
    from pymilvus import CollectionSchema, MilvusClient

_ID, _DIGEST = 4096, 64
_NEIGHBOURS, _EF_CONSTRUCTION = 32, 80


def create_passages(client: "MilvusClient", name: str, dimension: int) -> None:
    """Make the collection that is searched: by vectors along a graph, by words with Milvus's own BM25."""
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="HNSW", metric_type="COSINE", params={"M": _NEIGHBOURS, "efConstruction": _EF_CONSTRUCTION})
    indexes.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params={"bm25_k1": 1.2, "bm25_b": 0.75})
    client.create_collection(name, schema=_of_passages(dimension), index_params=indexes, consistency_level="Session")


def create_ledger(client: "MilvusClient", name: str) -> None:
    """Make the collection of all else that a later build has to know."""
    indexes = client.prepare_index_params()
    indexes.add_index("blank", index_type="FLAT", metric_type="COSINE", params={})
    client.create_collection(name, schema=_of_ledger(), index_params=indexes, consistency_level="Session")


def _of_passages(dimension: int) -> "CollectionSchema":
    from pymilvus import DataType, Function, FunctionType

    schema = _keyed()
    schema.add_field("id", DataType.VARCHAR, max_length=_ID)
    schema.add_field("document", DataType.VARCHAR, max_length=_ID)
    for name in ("label", "text"):
        schema.add_field(name, DataType.VARCHAR, max_length=LONGEST)
    for name in ("metadata", "known"):
        schema.add_field(name, DataType.JSON)
    for name in ("digest", "state"):
        schema.add_field(name, DataType.VARCHAR, max_length=_DIGEST)
    facets = {"element_type": DataType.VARCHAR, "max_capacity": MOST_FACETS, "max_length": _DIGEST}
    schema.add_field("facets", DataType.ARRAY, **facets)
    schema.add_field("words", DataType.VARCHAR, max_length=LONGEST, enable_analyzer=True, analyzer_params={"tokenizer": "standard"})
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
    ranked = {"input_field_names": ["words"], "output_field_names": ["sparse"]}
    schema.add_function(Function(name="bm25", function_type=FunctionType.BM25, **ranked))
    return schema


def _of_ledger() -> "CollectionSchema":
    from pymilvus import DataType

    schema = _keyed()
    schema.add_field("name", DataType.VARCHAR, max_length=_ID + _DIGEST)
    schema.add_field("kind", DataType.VARCHAR, max_length=_DIGEST)
    schema.add_field("document", DataType.VARCHAR, max_length=_ID)
    schema.add_field("value", DataType.JSON)
    schema.add_field("text", DataType.VARCHAR, max_length=LONGEST)
    schema.add_field("blank", DataType.FLOAT_VECTOR, dim=2)  # Milvus holds no collection without vectors
    return schema


def _keyed() -> "CollectionSchema":
    from pymilvus import DataType, MilvusClient

    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("key", DataType.VARCHAR, max_length=_ID + 2 * _DIGEST, is_primary=True)
    schema.add_field("tenant", DataType.VARCHAR, max_length=2 * _DIGEST, is_partition_key=True)
    return schema
