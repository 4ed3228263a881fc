"""An index in Milvus: same results and updates as in a folder; unsupported options."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import IndexingError, UsageError
from ramify.tools.index import Index
from ramify.tools.passage import Passage
from ramify.tools.search.searcher import open_index
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import QUERIES, write_records

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed: pip install 'ramify-rag[milvus]'")


ROOT = Path(__file__).parents[4]


def at(folder: Path, name: str = "corpus") -> str:
    return f"milvus:{folder / 'store.db'}/{name}"


def found(index: Index, **how: Any) -> list[list[Passage]]:
    return index.search(QUERIES, 10, **how)


def named(hits: list[list[Passage]]) -> list[list[str]]:
    return [[hit.id for hit in one] for one in hits]


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

    def test_the_other_forms_of_a_word_and_no_accents(self, tmp_path: Path) -> None:
        texts = ["The harbours of Kraków were dredged.", "An opera in Lyon.", "국어를 배우다"]
        index = Index.from_texts(texts, WordEncoder(), ids=["a", "b", "c"], path=at(tmp_path))
        for query, id in (("harbour", "a"), ("Krakow dredging", "a"), ("operas", "b"), ("국어", "c")):
            assert [hit.id for hit in index.search([query], 3, dense=False)[0]] == [id]

    def test_nothing_by_words_that_no_passage_has(self, stored: Index) -> None:
        assert stored.search(["?!", "zebra"], 3, dense=False) == [[], []]

    def test_what_a_section_may_fill(self, tmp_path: Path) -> None:
        guide = tmp_path / "guide.md"
        guide.write_text(f"# Pumps\n{'A pump turns water. ' * 200}\n# Valves\n{'A valve holds water. ' * 20}\n", encoding="utf-8")
        for place in (at(tmp_path), tmp_path / "folder"):
            Index.build([guide], place, WordEncoder())
            index = Index.open(place, WordEncoder())
            first, spread = (index.search(["turns water"], 3, per_section=per)[0] for per in (None, 1))
            assert [hit.metadata["heading"] for hit in first] == ["Pumps"] * 3
            assert [hit.metadata["heading"] for hit in spread][:2] == ["Pumps", "Valves"]

    def test_ids_and_passages_by_id(self, folder: Index, stored: Index) -> None:
        assert (len(stored), stored.ids()) == (len(folder), folder.ids())
        assert stored.get_by_ids(["r7", "none", "r3"]) == folder.get_by_ids(["r7", "none", "r3"])

    def test_options_of_other_kinds_mean_nothing(self, stored: Index) -> None:
        with pytest.raises(UsageError, match=r"search\.hops is not an option .* build a graph or a hierarchy: in a folder"):
            stored.search(["river"], 3, options={"hops": 2})


class TestKeptUpToDate:
    def test_only_new_text_is_encoded_and_deleted_passages_are_removed(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(30))
        Index.build([corpus], at(tmp_path), WordEncoder())
        write_records(corpus, range(5, 35), r7="Rewritten about a volcano.")
        built = Index.build([corpus], at(tmp_path), encoder := WordEncoder())
        assert (built.added, built.changed, built.unchanged, built.removed, built.passages) == (5, 1, 24, 5, 30)
        assert len(encoder.encoded) == built.encoded == 6
        index = Index.open(at(tmp_path), WordEncoder())
        assert index.ids() == sorted(f"r{number}" for number in range(5, 35))
        assert index.search(["volcano"], 1)[0][0].id == "r7"
        assert Index.build([corpus], at(tmp_path), WordEncoder()).encoded == 0

    def test_a_text_that_moved_is_not_encoded_again(self, tmp_path: Path) -> None:
        records = tmp_path / "records.jsonl"
        for id, encoded in (("old", 1), ("new", 0)):
            records.write_text(json.dumps({"id": id, "title": "Pumps", "text": "The pump stands in the cellar."}), encoding="utf-8")
            assert Index.build([records], at(tmp_path), WordEncoder()).encoded == encoded
        [[hit]] = Index.open(at(tmp_path), WordEncoder()).search(["pump"], 5)
        assert (hit.id, hit.score > 0.1) == ("new", True)

    def test_a_text_in_two_files_is_found_once_and_restored(self, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        said = "The north pump was taken apart and cleaned before the winter came over the harbour of the old town. " * 3
        for name in ("a.txt", "b.txt"):
            (tmp_path / "in" / name).write_text(said, encoding="utf-8")
        built = Index.build([tmp_path / "in"], at(tmp_path), WordEncoder())
        assert (built.passages, built.hidden) == (1, {"twin": 1})
        [[hit]] = Index.open(at(tmp_path), WordEncoder()).search(["pump"], 5)
        assert [place["source"] for place in hit.metadata["also"]] == ["b.txt"]
        (tmp_path / "in" / "a.txt").unlink()
        Index.build([tmp_path / "in"], at(tmp_path), WordEncoder())
        [[hit]] = Index.open(at(tmp_path), WordEncoder()).search(["pump"], 5)
        assert (hit.source, "also" in hit.metadata) == ("b.txt", False)

    def test_an_unfinished_build_is_no_index_and_is_resumed(self, corpus: Path, folder: Index, tmp_path: Path) -> None:
        died = subprocess.run([sys.executable, "-c", BUILD_AND_DIE, str(corpus), at(tmp_path), "55"], cwd=ROOT, check=False)
        assert died.returncode == -signal.SIGKILL
        with pytest.raises(IndexingError, match=r"half-written — run `ramify index .* again"):
            Index.open(at(tmp_path))
        Index.build([corpus], at(tmp_path), encoder := WordEncoder(), batch_size=10)
        assert 0 < len(encoder.encoded) <= 100 - 55 + 10
        assert named(found(Index.open(at(tmp_path), WordEncoder()), hybrid=False)) == named(found(folder, hybrid=False))

    def test_texts_are_added_replaced_and_deleted(self, tmp_path: Path) -> None:
        index = Index.from_texts(["A river.", "A wing."], WordEncoder(), [{"n": 1}, {"n": 2}], ids=["a", "b"], path=at(tmp_path))
        index.add_texts(["An engine.", "A treaty."], ids=["b", "c"])
        assert (index.ids(), index.manifest.documents) == (["a", "b", "c"], 3)
        assert index.search(["engine"], 1)[0][0].text == "An engine."
        index.delete(["a"])
        assert Index.open(at(tmp_path), WordEncoder()).ids() == ["b", "c"]

    def test_an_opened_index_sees_what_was_built_since(self, tmp_path: Path) -> None:
        place = at(tmp_path)
        Index.from_texts(["A river."], _Minilm(), ids=["a"], path=place)
        first = open_index(place)
        assert open_index(place) is first
        Index.from_texts(["A wing."], _Minilm(), ids=["b"], path=place)
        assert open_index(place).manifest.passages == 2


class _Minilm(WordEncoder):
    """Stands for the encoder that is loaded by its name."""

    def __init__(self) -> None:
        super().__init__("minilm")


BUILD_AND_DIE = """
import sys
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
Index.build([sys.argv[1]], sys.argv[2], WordEncoder(dies_after=int(sys.argv[3])), batch_size=10)
"""
