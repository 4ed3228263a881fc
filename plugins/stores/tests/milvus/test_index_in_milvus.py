"""An index in Milvus: same results and updates as in a folder; unsupported options."""

from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.passage import Passage
from tests.tools.index.test_index import QUERIES

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed: pip install 'ramify-rag[milvus]'")


ROOT = Path(__file__).parents[4]


def at(folder: Path, name: str = "corpus") -> str:
    return f"milvus:{folder / 'store.db'}/{name}"


def found(index: Index, **how: Any) -> list[list[Passage]]:
    return index.search(QUERIES, 10, **how)


def named(hits: list[list[Passage]]) -> list[list[str]]:
    return [[hit.id for hit in passages] for passages in hits]


class TestFindsWhatAFolderFinds:
    @pytest.mark.parametrize(
        "filter",
        [
            None, {"topic": "opera"}, {"topic": ["opera", "wing"]}, {"even": True}, {"number": 13}, {"number": 13.0}, {"tags": "engine"},
            {"topic": "opera", "even": False}, {"even": 1}, {"number": "13"}, {"nothing": None}, {"topic": []},
            {"source": "records.jsonl#r8"},
        ],
    )  # fmt: skip
    def test_by_vectors_under_any_filter(self, folder: Index, stored: Index, filter: dict[str, Any] | None) -> None:
        ours, theirs = (found(index, hybrid=False, filter=filter) for index in (folder, stored))
        assert named(theirs) == named(ours)
        assert [hit.score for hits in theirs for hit in hits] == pytest.approx([hit.score for hits in ours for hit in hits], abs=1e-5)

    def test_whole_passages_with_their_metadata(self, folder: Index, stored: Index) -> None:
        theirs, ours = (index.search(["river 42"], 1)[0][0].model_dump(exclude={"score", "value"}) for index in (stored, folder))
        assert theirs == ours

    @pytest.mark.parametrize("how", [{}, {"mmr": 0.7}, {"dense": False}, {"filter": {"even": True}}])
    def test_most_of_what_words_and_vectors_find_together(self, folder: Index, stored: Index, how: dict[str, Any]) -> None:
        pairs = zip(named(found(folder, **how)), named(found(stored, **how)), strict=True)
        assert sum(len(set(ours) & set(theirs)) for ours, theirs in pairs) >= 0.9 * 10 * len(QUERIES)

    def test_ids_and_passages_by_id(self, folder: Index, stored: Index) -> None:
        assert (len(stored), stored.ids()) == (len(folder), folder.ids())
        assert stored.get_by_ids(["r7", "none", "r3"]) == folder.get_by_ids(["r7", "none", "r3"])

    def test_options_of_other_kinds_mean_nothing(self, stored: Index) -> None:
        with pytest.raises(UsageError, match=r"search\.hops is not an option .* build a graph or a hierarchy: in a folder"):
            stored.search(["river"], 3, options={"hops": 2})
