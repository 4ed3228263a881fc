"""The index: what is found, what is kept up to date, what survives a kill, what is refused."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from ramify.tools.documents.reader import Told, UnreadableError
from ramify.tools.documents.readers import READERS
from ramify.tools.errors import IndexingError, InputError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.fusion import fuse
from ramify.tools.index.hybrid_search import Hit
from ramify.tools.index.publication import writing
from tests.tools.fakes import FixedVectors, WordEncoder

TOPICS = ["river", "wing", "engine", "treaty", "opera", "enzyme", "harbour"]
FILES = ["passages.sqlite", "vectors.faiss", "manifest.json"]
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
    return [[(str(hit.document.id), round(hit.score, 6), round(hit.value, 6)) for hit in one] for one in found]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_records(tmp_path_factory.mktemp("corpus") / "records.jsonl", range(100))


@pytest.fixture(scope="module")
def index(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("index") / "index"
    Index.build([corpus], folder, WordEncoder())
    return Index.open(folder, WordEncoder())


class TestSearch:
    def test_finds_passages_with_their_metadata(self, index: Index, corpus: Path) -> None:
        (found,) = index.search(["river 42"], 3)
        assert found[0].document.id == "r42"
        assert found[0].document.page_content == "About river number 42 and engine."
        assert found[0].document.metadata == {
            "topic": "river", "number": 42, "tags": ["engine", "all"], "even": True, "source": "records.jsonl#r42", "title": "river 42",
            "path": str(corpus),
        }  # fmt: skip

    def test_a_batch_finds_what_its_queries_find_alone(self, index: Index) -> None:
        assert hits(index) == [hits_of(index, query) for query in QUERIES]

    def test_the_score_is_the_cosine_however_passages_were_found(self, index: Index) -> None:
        (query,) = index.embeddings.encode_queries(["wing 22"])
        for how in ({"mmr": None}, {"hybrid": False}, {"mmr": 0.5, "filter": {"even": True}}):
            for hit in index.search(["wing 22"], 5, **how)[0]:
                text = f"{hit.document.metadata['title']}\n{hit.document.page_content}"
                (vector,) = index.embeddings.encode_documents([text])
                assert hit.score == pytest.approx(float(vector @ query), abs=1e-5)

    def test_without_mmr_the_value_is_the_cosine(self, index: Index) -> None:
        assert all(hit.value == hit.score for hit in index.search(["wing 22"], 5, mmr=None)[0])

    def test_dense_search_is_in_order_of_cosine(self, index: Index) -> None:
        scores = [hit.score for hit in index.search(["opera 18 about"], 10, mmr=None, hybrid=False)[0]]
        assert scores == sorted(scores, reverse=True)

    def test_words_find_what_vectors_do_not(self, tmp_path: Path) -> None:
        vectors = {f"text {number}": [1.0, 0.001 * number] for number in range(150)} | {"the zyxwv part": [-1.0, 0.0]}
        index = Index.from_texts(list(vectors), FixedVectors(vectors), path=tmp_path)
        found = index.search(["Where is the zyxwv?"], 5, mmr=None)[0]
        assert "the zyxwv part" in [hit.document.page_content for hit in found]
        dense = index.search(["Where is the zyxwv?"], 5, mmr=None, hybrid=False)[0]
        assert "the zyxwv part" not in [hit.document.page_content for hit in dense]

    @pytest.mark.parametrize("query", ['a "quoted" OR (thing)?', "NEAR(x y) *", "", "???", "the of and", "title: river -wing", "é 수도"])
    def test_no_question_is_a_syntax_error(self, index: Index, query: str) -> None:
        assert len(index.search([query], 3)[0]) == 3

    def test_more_than_there_is_gives_all(self, index: Index) -> None:
        assert len(index.search(["river"], 500)[0]) == 100

    def test_no_queries_find_nothing(self, index: Index) -> None:
        assert index.search([]) == []

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
        return [(hit.document.page_content, round(hit.score, 4), round(hit.value, 4)) for hit in found]

    def test_picks_as_worked_by_hand(self, tmp_path: Path) -> None:
        # cosines to (1, 0): .8 .78 .6; a first: .75*.8 = .6; then b: .585 - .25*.9995 = .3351, c: .45 - .25*0 = .45
        assert self.found(tmp_path, mmr=0.75) == [("a", 0.8, 0.6), ("c", 0.6, 0.45)]

    def test_weight_one_is_the_order_of_cosine(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, mmr=1.0) == [("a", 0.8, 0.8), ("b", 0.78, 0.78)]

    def test_picks_only_among_fetch_k(self, tmp_path: Path) -> None:
        assert [text for text, _, _ in self.found(tmp_path, fetch_k=2)] == ["a", "b"]


def test_fusion_takes_the_mean_of_both_scores_as_shares_of_the_best() -> None:
    def order(cosines: list[float], bm25: list[float]) -> list[int]:
        return [place for place, _ in fuse(np.array(cosines, dtype=np.float32), np.array(bm25))]

    assert order([0.8, 0.6, 0.4], [0.0, 9.0, 10.0]) == [1, 2, 0]
    assert order([0.5, 0.5], [0.0, 0.0]) == [0, 1]
    assert order([-0.2, 0.1], [0.0, 0.0]) == [1, 0]
    assert fuse(np.array([0.8, 0.4], dtype=np.float32), np.array([0.0, 10.0]))[0] == (1, pytest.approx(0.75))


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
        return [hit.document.metadata["heading"] for hit in manual.search([question], 3, mmr=None, **how)[0]]

    def test_a_limit_lets_others_have_their_turn(self, manual: Index) -> None:
        assert self.headings(manual, "Over what does the cable number 3 run?", per_section=2) == ["Rudder", "Rudder", "Brakes"]

    def test_one_that_the_question_names_gives_all_there_are(self, manual: Index) -> None:
        assert self.headings(manual, "Over what does the rudder cable run?", per_section=2) == ["Rudder"] * 3

    def test_by_default_the_best_come_first_wherever_they_stand(self, manual: Index) -> None:
        assert self.headings(manual, "Over what does the cable number 3 run?") == ["Rudder"] * 3


class TestFilter:
    @pytest.mark.parametrize(
        ("where", "numbers"),
        [
            ({"topic": "wing"}, range(1, 100, 7)),
            ({"topic": ["wing", "opera"]}, [n for n in range(100) if n % 7 in (1, 4)]),
            ({"tags": "engine", "even": True}, [n for n in range(100) if n % 5 == 2 and n % 2 == 0]),
            ({"number": 17}, [17]),
            ({"number": "17"}, []),
            ({"topic": None}, []),
            ({"no such field": "x"}, []),
        ],
    )
    def test_is_exact(self, index: Index, where: dict[str, Any], numbers: list[int]) -> None:
        (found,) = index.search(["treaty"], 100, filter=where)
        assert sorted(hit.document.metadata["number"] for hit in found) == sorted(numbers)

    def test_gives_the_best_that_match_not_those_that_match_among_the_best(self, index: Index) -> None:
        (all_found,) = index.search(["river 3"], 100, hybrid=False, mmr=None)
        (found,) = index.search(["river 3"], 4, hybrid=False, mmr=None, filter={"topic": "enzyme"})
        best = [hit for hit in all_found if hit.document.metadata["topic"] == "enzyme"][:4]
        assert [hit.document.id for hit in found] == [hit.document.id for hit in best]

    def test_values_are_not_sql(self, index: Index) -> None:
        assert index.search(["river"], 3, filter={"topic' OR 1=1 --": "' OR 1=1 --"}) == [[]]


class TestUpdates:
    def test_only_what_changed_is_encoded(self, tmp_path: Path) -> None:
        corpus, folder = write_records(tmp_path / "records.jsonl", range(30)), tmp_path / "index"
        first = Index.build([corpus], folder, WordEncoder())
        assert (first.added, first.passages, first.encoded) == (30, 30, 30)
        unchanged = Index.build([corpus], folder, encoder := WordEncoder())
        assert (unchanged.unchanged, unchanged.encoded, encoder.encoded) == (30, 0, [])
        write_records(corpus, range(5, 35), r7="Rewritten.")
        update = Index.build([corpus], folder, encoder := WordEncoder())
        assert (update.added, update.changed, update.unchanged, update.removed) == (5, 1, 24, 5)
        assert len(encoder.encoded) == 6

    def test_a_file_of_the_same_size_and_time_is_not_read_again(self, tmp_path: Path) -> None:
        note = tmp_path / "papers" / "note.txt"
        note.parent.mkdir()
        note.write_text("river 1")
        build = partial(Index.build, note.parent, tmp_path / "index", WordEncoder())
        build()
        before = note.stat()
        note.write_text("opera 1")
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert build().unchanged == 1
        os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
        assert build().changed == 1
        os.utime(note)
        assert build().unchanged == 1

    def test_a_file_that_could_not_be_read_is_tried_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        papers = tmp_path / "papers"
        papers.mkdir()
        (papers / "good.txt").write_text("river 1")
        (papers / "table.csv").write_text("river\n1\n")
        readable = READERS[".csv"]

        def fails(path: Path, source: str, told: Told) -> Iterator[Document]:
            raise UnreadableError("its reader cannot load")

        monkeypatch.setitem(READERS, ".csv", readable._replace(read=fails))
        assert Index.build(papers, tmp_path / "index", WordEncoder()).skipped == [("table.csv", "its reader cannot load")]
        monkeypatch.setitem(READERS, ".csv", readable)
        again = Index.build(papers, tmp_path / "index", WordEncoder())
        assert (again.added, again.unchanged, again.skipped) == (1, 1, [])

    def test_what_was_left_out_of_an_unchanged_file_is_told_again(self, tmp_path: Path) -> None:
        lines = tmp_path / "papers" / "records.jsonl"
        lines.parent.mkdir()
        lines.write_text(json.dumps({"text": "river"}) + "\nno record\n")
        first = Index.build(lines.parent, tmp_path / "index", WordEncoder())
        again = Index.build(lines.parent, tmp_path / "index", WordEncoder())
        assert again.skipped == first.skipped == [("records.jsonl#2", "not a JSON record")]

    def test_an_updated_index_finds_what_a_new_one_finds(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(60))
        Index.build([corpus], tmp_path / "updated", WordEncoder())
        write_records(corpus, range(20, 100), r30="Now about the harbour 13.")
        Index.build([corpus], tmp_path / "updated", WordEncoder())
        Index.build([corpus], tmp_path / "new", WordEncoder())
        assert search_all(tmp_path / "updated") == search_all(tmp_path / "new")

    def test_files_gone_from_the_path_are_removed_and_other_paths_kept(self, tmp_path: Path) -> None:
        for name in ("a/one.txt", "a/two.txt", "b/three.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(f"Text of {name}.", encoding="utf-8")
        Index.build([tmp_path / "a", tmp_path / "b"], tmp_path / "index", WordEncoder())
        (tmp_path / "a" / "one.txt").unlink()
        built = Index.build([tmp_path / "a"], tmp_path / "index", WordEncoder())
        assert (built.removed, built.documents) == (1, 2)
        assert ids(tmp_path / "index") == ["three.txt", "two.txt"]

    def test_the_same_name_in_two_folders_is_two_documents(self, tmp_path: Path) -> None:
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "readme.txt").write_text(f"This is {folder}.", encoding="utf-8")
        Index.build([tmp_path / "a"], tmp_path / "index", WordEncoder())
        Index.build([tmp_path / "b"], tmp_path / "index", WordEncoder())
        assert ids(tmp_path / "index") == ["readme.txt", "readme.txt@2"]

    def test_an_index_inside_the_folder_is_not_indexed(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
        for _ in range(2):
            built = Index.build([tmp_path], tmp_path / "index", WordEncoder())
            assert (built.documents, built.skipped) == (1, [("index", "an index, not documents")])

    def test_skipped_files_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "note.txt").write_text("A note.", encoding="utf-8")
        (tmp_path / "empty.txt").write_bytes(b"")
        assert ("empty.txt", "empty") in Index.build([tmp_path], tmp_path / "index", WordEncoder()).skipped

    def test_nothing_readable_is_an_error_and_no_index(self, tmp_path: Path) -> None:
        (tmp_path / "empty.txt").write_bytes(b"")
        with pytest.raises(InputError, match="nothing readable"):
            Index.build([tmp_path / "empty.txt"], tmp_path / "index", WordEncoder())
        with pytest.raises(IndexingError):
            Index.open(tmp_path / "index")

    def test_an_open_index_goes_on_as_it_was(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(40))
        Index.build([corpus], tmp_path / "index", WordEncoder())
        opened = Index.open(tmp_path / "index", WordEncoder())
        before = hits(opened)
        write_records(corpus, range(20, 90))
        Index.build([corpus], tmp_path / "index", WordEncoder())
        assert hits(opened) == before

    def test_two_writers_do_not_meet(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(3))
        with writing(tmp_path / "index"), pytest.raises(IndexingError, match="another process is writing"):
            Index.build([corpus], tmp_path / "index", WordEncoder())

    def test_progress_ends_at_its_total(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(25))
        told: list[tuple[int, int | None, str]] = []
        Index.build([corpus], tmp_path / "index", WordEncoder(), batch_size=10, progress=lambda *step: told.append(step))
        assert [step for step in told if step[2] == "passages"] == [(10, 25, "passages"), (20, 25, "passages"), (25, 25, "passages")]


BUILD_AND_DIE = """
import sys
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
Index.build([sys.argv[1]], sys.argv[2], WordEncoder(dies_after=int(sys.argv[3])), batch_size=10)
"""
PUBLISH_AND_DIE = """
import os, signal, sys
from pathlib import Path
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
replace = Path.replace
def dies(self, target):
    if Path(target).name == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = dies
Index.build([sys.argv[1]], sys.argv[2], WordEncoder())
"""


def killed(corpus: Path, folder: Path, program: str, where: object) -> None:
    """Build in another process that is killed by SIGKILL on the way: after so many texts, or before a file is published."""
    root = Path(__file__).parents[3]
    process = subprocess.run([sys.executable, "-c", program, str(corpus), str(folder), str(where)], cwd=root, check=False)
    assert process.returncode == -signal.SIGKILL


class TestKilled:
    def test_a_killed_build_resumes_and_finds_the_same(self, corpus: Path, index: Index, tmp_path: Path) -> None:
        killed(corpus, tmp_path, BUILD_AND_DIE, 55)
        with pytest.raises(IndexingError, match=r"half-written — run `ramify index .*again"):
            Index.open(tmp_path)
        Index.build([corpus], tmp_path, encoder := WordEncoder(), batch_size=10)
        assert 0 < len(encoder.encoded) <= 100 - 55 + 10
        assert search_all(tmp_path) == search_all(index.where)

    def test_a_killed_update_leaves_the_old_index_and_resumes(self, tmp_path: Path) -> None:
        corpus = write_records(tmp_path / "records.jsonl", range(40))
        Index.build([corpus], tmp_path / "index", WordEncoder(), batch_size=10)
        before = search_all(tmp_path / "index")
        write_records(corpus, range(100), r3="Rewritten.")
        killed(corpus, tmp_path / "index", BUILD_AND_DIE, 25)
        assert search_all(tmp_path / "index") == before
        Index.build([corpus], tmp_path / "index", encoder := WordEncoder(), batch_size=10)
        assert 0 < len(encoder.encoded) <= 61 - 25 + 10
        Index.build([corpus], tmp_path / "new", WordEncoder(), batch_size=10)
        assert search_all(tmp_path / "index") == search_all(tmp_path / "new")

    @pytest.mark.parametrize(("step", "published"), [("passages.sqlite", 0), ("vectors.faiss", 1), ("manifest.json", 2)])
    def test_a_publication_cut_short_is_completed_without_encoding(self, tmp_path: Path, step: str, published: int) -> None:
        corpus, folder = write_records(tmp_path / "records.jsonl", range(20)), tmp_path / "index"
        Index.build([corpus], folder, WordEncoder())
        before = {name: (folder / name).read_bytes() for name in FILES}
        write_records(corpus, range(30))
        killed(corpus, folder, PUBLISH_AND_DIE, step)
        assert sum((folder / name).read_bytes() != before[name] for name in FILES) == published
        if published:
            with pytest.raises(IndexingError, match="again"):
                Index.open(folder, WordEncoder())
        else:
            assert len(ids(folder)) == 20
        Index.build([corpus], folder, encoder := WordEncoder())
        assert encoder.encoded == []
        Index.build([corpus], tmp_path / "new", WordEncoder())
        assert search_all(folder) == search_all(tmp_path / "new")


class TestDamage:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        Index.build([write_records(tmp_path / "records.jsonl", range(40))], tmp_path / "index", WordEncoder())
        return tmp_path / "index"

    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("damage", ["missing", "empty", "cut", "flipped", "rubbish"])
    def test_is_one_clear_error_and_repaired_by_building_again(self, folder: Path, name: str, damage: str) -> None:
        before = search_all(folder)
        content = (folder / name).read_bytes()
        middle = len(content) // 2
        damaged = {
            "missing": b"",
            "empty": b"",
            "cut": content[:middle],
            "flipped": content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :],
            "rubbish": b"rubbish" * 400,
        }[damage]
        (folder / name).write_bytes(damaged)
        if damage == "missing":
            (folder / name).unlink()
        with pytest.raises(IndexingError, match=r"— run `ramify index PATH… --out .*` again"):
            Index.open(folder, WordEncoder())
        Index.build([folder.parent / "records.jsonl"], folder, WordEncoder())
        assert search_all(folder) == before

    def test_a_lost_graph_is_rebuilt_without_encoding(self, folder: Path) -> None:
        (folder / "vectors.faiss").unlink()
        Index.build([folder.parent / "records.jsonl"], folder, encoder := WordEncoder())
        assert encoder.encoded == []

    def test_no_index_says_how_to_make_one(self, tmp_path: Path) -> None:
        with pytest.raises(IndexingError, match=r"there is no index in '.*nowhere' — make one: `ramify index PATH… --out"):
            Index.open(tmp_path / "nowhere")

    def test_another_embedding_is_refused(self, folder: Path) -> None:
        with pytest.raises(IndexingError, match="made with the embedding 'langchain:WordEncoder', not 'other'"):
            Index.open(folder, WordEncoder("other"))
        with pytest.raises(IndexingError, match=r"embedding 'langchain:WordEncoder', not 'other' — ask for the same"):
            Index.build([folder.parent / "records.jsonl"], folder, WordEncoder("other"))

    def test_other_passages_are_refused(self, folder: Path) -> None:
        with pytest.raises(IndexingError, match="chunk_tokens '300', not '200'"):
            Index.build([folder.parent / "records.jsonl"], folder, WordEncoder(), chunk_tokens=200)

    def test_the_index_holds_no_pickle(self, folder: Path) -> None:
        assert sorted(path.name for path in folder.iterdir()) == [".writing", "manifest.json", "passages.sqlite", "vectors.faiss"]
        with sqlite3.connect(folder / "passages.sqlite") as database:
            assert database.execute("SELECT count(*) FROM passages").fetchone() == (40,)


class TestVectorStore:
    @pytest.fixture
    def store(self) -> Index:
        texts = ["The river Arda floods in spring.", "Spruce is light and strong.", "The treaty was signed in 1648."]
        return Index.from_texts(texts, WordEncoder(), [{"page": page} for page in (1, 2, 3)], ids=["a", "b", "c"])

    def test_similarity_search(self, store: Index) -> None:
        assert [document.id for document in store.similarity_search("treaty signed", k=1)] == ["c"]
        assert [document.id for document in store.similarity_search("treaty signed", k=3, filter={"page": [1, 2]})] != []
        ((document, score),) = store.similarity_search_with_score("Spruce is light and strong.", k=1)
        assert (document.id, round(score, 4)) == ("b", 1.0)

    async def test_async_and_retriever(self, store: Index) -> None:
        assert [document.id for document in await store.asimilarity_search("river", k=1)] == ["a"]
        assert [document.id for document in await store.as_retriever(search_kwargs={"k": 1}).ainvoke("treaty")] == ["c"]
        diverse = store.as_retriever(search_type="mmr", search_kwargs={"k": 2})
        assert len(await diverse.ainvoke("treaty")) == 2
        scored = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={"score_threshold": 0.9})
        assert [document.id for document in scored.invoke("The treaty was signed in 1648.")] == ["c"]

    def test_by_vector(self, store: Index) -> None:
        vector = store.embeddings.embed_query("river Arda")
        assert store.similarity_search_by_vector(vector, k=1)[0].id == "a"
        assert len(store.max_marginal_relevance_search_by_vector(vector, k=2)) == 2
        assert len(store.max_marginal_relevance_search("river Arda", k=2)) == 2

    def test_add_get_and_delete(self, store: Index) -> None:
        (fresh,) = store.add_documents([Document("The harbour freezes.", metadata={"page": 4})])
        assert store.add_texts(["The river Arda is dry."], ids=["a"]) == ["a"]
        assert [document.page_content for document in store.get_by_ids([fresh, "nobody", "a"])] == [
            "The harbour freezes.",
            "The river Arda is dry.",
        ]
        assert store.delete(["b", "nobody"])
        assert len(store) == 3
        assert store.get_by_ids(["b"]) == []
        assert "b" not in [document.id for document in store.similarity_search("Spruce", k=10)]

    def test_everything_can_be_deleted(self, store: Index) -> None:
        store.delete(["a", "b", "c"])
        assert store.similarity_search("river") == []

    def test_a_long_text_is_split_and_deleted_as_a_whole(self, store: Index) -> None:
        store.add_texts(["The river floods again. " * 200], ids=["long"])
        assert {"long", "long~2"} < {str(document.id) for document in store.similarity_search("river floods", k=50)}
        store.delete(["long"])
        assert len(store) == 3


def hits_of(index: Index, query: str) -> list[tuple[str, float, float]]:
    found: list[Hit] = index.search([query], 6)[0]
    return [(str(hit.document.id), round(hit.score, 6), round(hit.value, 6)) for hit in found]


def search_all(folder: Path) -> list[list[list[tuple[str, float, float]]]]:
    index = Index.open(folder, WordEncoder())
    return [hits(index), hits(index, mmr=None), hits(index, hybrid=False, filter={"even": True})]


def ids(folder: Path) -> list[str]:
    index = Index.open(folder, WordEncoder())
    return sorted(str(hit.document.id) for hit in index.search(["text"], 1000)[0])
