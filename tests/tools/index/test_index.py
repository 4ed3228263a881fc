"""The index: search, fusion, MMR, sections and filters."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramify.tools.errors import UsageError
from ramify.tools.index import Index
from ramify.tools.index.hybrid_search import fuse_scores
from ramify.tools.passage import Passage
from tests.tools.fakes import FixedVectors, WordEncoder

TOPICS = ["river", "wing", "engine", "treaty", "opera", "enzyme", "harbour"]


QUERIES = ["river 3", "which treaty 8", "opera enzyme", "number 40", "harbour 13 wing"]


def write_records(path: Path, numbers: range, **changed: str) -> Path:
    records = [
        {
            "id": f"r{number}",
            "title": f"{TOPICS[number % 7]} {number}",
            "text": changed.get(f"r{number}", f"About {TOPICS[number % 7]} number {number} and {TOPICS[number % 5]}."),
            "metadata": {"topic": TOPICS[number % 7], "number": number, "tags": [TOPICS[number % 5], "all"], "even": number % 2 == 0},
        }
        for number in numbers
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def hits(index: Index, **how: Any) -> list[list[tuple[str, float, float]]]:
    found = index.search(QUERIES, 6, **how)
    return [[(hit.id, round(hit.score, 6), round(hit.value, 6)) for hit in one] for one in found]


class TestSearch:
    def test_a_batch_finds_what_its_queries_find_alone(self, index: Index) -> None:
        assert hits(index) == [hits_of(index, query) for query in QUERIES]

    def test_the_score_is_the_cosine_however_passages_were_found(self, index: Index) -> None:
        (query,) = index.embeddings.encode_queries(["wing 22"])
        for how in ({"mmr": None}, {"hybrid": False}, {"mmr": 0.5, "filter": {"even": True}}):
            for hit in index.search(["wing 22"], 5, **how)[0]:
                text = f"{hit.metadata['title']}\n{hit.text}"
                (vector,) = index.embeddings.encode_documents([text])
                assert hit.score == pytest.approx(float(vector @ query), abs=1e-5)

    def test_without_mmr_the_value_is_the_cosine(self, index: Index) -> None:
        assert all(hit.value == hit.score for hit in index.search(["wing 22"], 5, mmr=None)[0])

    def test_words_find_what_vectors_do_not(self, tmp_path: Path) -> None:
        vectors = {f"text {number}": [1.0, 0.001 * number] for number in range(150)} | {"the zyxwv part": [-1.0, 0.0]}
        index = Index.from_texts(list(vectors), FixedVectors(vectors), path=tmp_path)
        found = index.search(["Where is the zyxwv?"], 5, mmr=None)[0]
        assert "the zyxwv part" in [hit.text for hit in found]
        dense = index.search(["Where is the zyxwv?"], 5, mmr=None, hybrid=False)[0]
        assert "the zyxwv part" not in [hit.text for hit in dense]

    @pytest.mark.parametrize("query", ['a "quoted" OR (thing)?', "NEAR(x y) *", "", "???", "the of and", "title: river -wing", "é 수도"])
    def test_no_question_is_a_syntax_error(self, index: Index, query: str) -> None:
        assert len(index.search([query], 3)[0]) == 3

    @pytest.mark.parametrize("how", [{"k": 0}, {"fetch_k": 0}, {"mmr": 1.5}, {"filter": {"topic": {"not": "this"}}}])
    def test_numbers_out_of_range_are_refused(self, index: Index, how: dict[str, Any]) -> None:
        with pytest.raises(UsageError):
            index.search(["river"], **how)

    def test_threads_find_the_same(self, index: Index) -> None:
        with ThreadPoolExecutor(8) as pool:
            assert all(found == hits(index) for found in pool.map(lambda _: hits(index), range(32)))


class TestMmr:
    """Three directions: a and its near copy b at the query, c to the side."""

    VECTORS = {"a": [0.8, 0.6], "b": [0.78, 0.6257795138864806], "c": [0.6, -0.8]}  # noqa: RUF012  # never changed

    def found(self, tmp_path: Path, **how: Any) -> list[tuple[str, float, float]]:
        index = Index.from_texts(list(self.VECTORS), FixedVectors(self.VECTORS), path=tmp_path)
        (found,) = index.search(["q"], 2, hybrid=False, **how)
        return [(hit.text, round(hit.score, 4), round(hit.value, 4)) for hit in found]

    def test_picks_as_worked_by_hand(self, tmp_path: Path) -> None:
        # cosines to (1, 0): .8 .78 .6; a first: .75*.8 = .6; then b: .585 - .25*.9995 = .3351, c: .45 - .25*0 = .45
        assert self.found(tmp_path, mmr=0.75) == [("a", 0.8, 0.6), ("c", 0.6, 0.45)]

    def test_weight_one_is_the_order_of_cosine(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, mmr=1.0) == [("a", 0.8, 0.8), ("b", 0.78, 0.78)]

    def test_picks_only_among_fetch_k(self, tmp_path: Path) -> None:
        assert [text for text, _, _ in self.found(tmp_path, fetch_k=2)] == ["a", "b"]


class TestMmrOfAHybridSearch:
    """What words found is kept: MMR selects by the fused values, not by cosines."""

    VECTORS = {"a a": [0.8, 0.6], "b b": [0.78, 0.6257795138864806], "zyxwv": [0.3, -0.9539392014169456]}  # noqa: RUF012  # never changed

    def found(self, tmp_path: Path, **how: Any) -> list[str]:
        index = Index.from_texts(list(self.VECTORS), FixedVectors({**self.VECTORS, "zyxwv?": [1.0, 0.0]}), path=tmp_path)
        return [hit.text for hit in index.search(["zyxwv?"], **how)[0]]

    def test_a_passage_that_words_found_first_is_taken_first(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, k=2, mmr=None) == ["zyxwv", "a a"]
        assert self.found(tmp_path, k=2, mmr=0.75) == ["zyxwv", "a a"]
        assert self.found(tmp_path, k=1, mmr=0.75, hybrid=False) == ["a a"], "the dense search of the paper selects by cosines"

    def test_words_alone_are_selected_by_their_order(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, k=1, mmr=0.75, dense=False) == ["zyxwv"]

    def test_scores_stay_cosines(self, tmp_path: Path) -> None:
        index = Index.from_texts(list(self.VECTORS), FixedVectors({**self.VECTORS, "zyxwv?": [1.0, 0.0]}), path=tmp_path)
        assert [round(hit.score, 4) for hit in index.search(["zyxwv?"], 2, mmr=0.75)[0]] == [0.3, 0.8]


@pytest.mark.parametrize("how", [{}, {"per_section": 1}, {"dense": False}, {"hybrid": False}, {"filter": {"even": True}}])
def test_mmr_of_weight_one_keeps_the_order_of_the_search(index: Index, how: dict[str, Any]) -> None:
    def order(mmr: float | None) -> list[str]:
        return [hit.id for hit in index.search(["Which opera is about wing 22?"], 10, mmr=mmr, **how)[0]]

    assert order(1.0) == order(None)


def test_fusion_takes_the_mean_of_both_scores_as_shares_of_the_best() -> None:
    def order(cosines: list[float], bm25: list[float]) -> list[int]:
        return [place for place, _ in fuse_scores(np.array(cosines, dtype=np.float32), np.array(bm25))]

    assert order([0.8, 0.6, 0.4], [0.0, 9.0, 10.0]) == [1, 2, 0]
    assert order([0.5, 0.5], [0.0, 0.0]) == [0, 1]
    assert order([-0.2, 0.1], [0.0, 0.0]) == [1, 0]
    assert fuse_scores(np.array([0.8, 0.4], dtype=np.float32), np.array([0.0, 10.0]))[0] == (1, pytest.approx(0.75))


class TestSections:
    @pytest.fixture
    def manual(self, tmp_path: Path) -> Index:
        rudder = "\n\n".join(f"The rudder cable number {number} runs over a pulley." for number in range(6))
        (tmp_path / "manual.md").write_text(
            f"# Rudder\n\n{rudder}\n\n# Brakes\n\nThe brake pedal of each pilot pulls a cable, too, and that cable ends at the wheel."
        )
        Index.build(tmp_path / "manual.md", tmp_path / "index", WordEncoder(), chunk_tokens=18, overlap=0)
        return Index.open(tmp_path / "index", WordEncoder())

    def headings(self, manual: Index, question: str, **how: Any) -> list[str]:
        return [hit.metadata["heading"] for hit in manual.search([question], 3, mmr=None, **how)[0]]

    def test_a_limit_lets_others_have_their_turn(self, manual: Index) -> None:
        assert self.headings(manual, "Over what does the cable number 3 run?", per_section=2) == ["Rudder", "Rudder", "Brakes"]

    def test_a_section_named_in_the_question_has_no_limit(self, manual: Index) -> None:
        assert self.headings(manual, "Over what does the rudder cable run?", per_section=2) == ["Rudder"] * 3

    def test_by_default_the_best_come_first_wherever_they_stand(self, manual: Index) -> None:
        assert self.headings(manual, "Over what does the cable number 3 run?") == ["Rudder"] * 3


def hits_of(index: Index, query: str) -> list[tuple[str, float, float]]:
    found: list[Passage] = index.search([query], 6)[0]
    return [(hit.id, round(hit.score, 6), round(hit.value, 6)) for hit in found]
