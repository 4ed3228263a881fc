"""Filters with unusual values, with many values, and with values that no metadata can have."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.search.searcher import unknown_filter_fields
from tests.embeddings import WordEmbeddings
from tests.tools.fakes import WordEncoder


def test_any_number_of_values_and_of_fields(tmp_path: Path) -> None:
    fields = {f"field{number}": number for number in range(1200)}
    metadata = [fields | {"n": 4321}, fields | {"n": -1}]
    index = Index.from_texts(["river one", "river two"], WordEncoder(), metadata, path=tmp_path / "index")
    assert [hit.metadata["n"] for hit in index.search(["river"], filter={"n": list(range(5000))})[0]] == [4321]
    assert len(index.search(["river"], filter=fields)[0]) == 2
    assert index.search(["river"], filter=fields | {"field7": 8})[0] == []


def test_none_booleans_and_lists_are_distinguished(tmp_path: Path) -> None:
    values: list[Any] = [None, True, 0.1, "1", [None, "x"], {"x": 1}]
    index = Index.from_texts([f"river {n}" for n in range(6)], WordEncoder(), [{"v": value} for value in values], path=tmp_path / "index")

    def found(wanted: Any) -> list[int]:
        return sorted(values.index(hit.metadata["v"]) for hit in index.search(["river"], 9, filter={"v": wanted})[0])

    assert [found(one) for one in (None, True, 1, 0.1, "1", "x", [], ["x", 0.1, None])] == [[0, 4], [1], [1], [2], [3], [4], [], [0, 2, 4]]


@pytest.mark.parametrize("where", [{"n": 2**63}, {"n": [1, -(2**64)]}, {"n": 10**400}, {"n": "\ud800"}, {"\ud800": 1}, {"n": "a\0b"}])
def test_a_value_that_no_metadata_can_have_is_one_error(index: Index, where: dict[str, Any]) -> None:
    for hybrid in (True, False):
        with pytest.raises(UsageError, match=" — "):
            index.search(["wing 3"], filter=where, hybrid=hybrid)


def test_nan_matches_nothing(index: Index) -> None:
    assert index.search(["wing 3"], filter={"number": [float("inf"), float("nan")]})[0] == []


@pytest.mark.parametrize(("query", "how"), [("wing", {"k": 10**30}), ("wing", {"fetch_k": 10**30}), ("wing \ud800", {})])
def test_a_search_that_cannot_be_is_one_error(index: Index, query: str, how: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=" — "):
        index.search([query], **how)


def test_of_many_fields_the_first_are_named_and_of_a_store_of_another_make_none(tmp_path: Path) -> None:
    metadata = [{f"field{number:02}": number for number in range(25)} | {"a" * 100: 1, "sum\u202e": 2}]
    index = Index.from_texts(["river"], WordEncoder(), metadata, path=tmp_path / "index")
    notice = unknown_filter_fields(index, {"feild": 1, "field03": 9})
    assert notice is not None
    assert notice.startswith(f"no passage has the filter fields 'feild': there are {'a' * 59}…, field00, field01, ")
    assert notice.endswith("field18 and 7 more")
    many = unknown_filter_fields(index, {f"x{number:03}": 1 for number in range(500)})
    assert many is not None
    assert many.startswith("no passage has the filter fields 'x000', 'x001', ")
    assert "'x019' and 480 more: there are " in many
    assert (
        unknown_filter_fields(index, {"field03": 9})
        is unknown_filter_fields(index, None)
        is unknown_filter_fields(InMemoryVectorStore(WordEmbeddings()), {"feild": 1})
        is None
    )
