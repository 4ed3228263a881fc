"""What every store of an index does. A subclass names a location and says how another process holds it; plug-ins' tests have theirs."""

import json
import signal
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from ramify.tools.errors import IndexingError, InputError, UsageError
from ramify.tools.index import Index
from ramify.tools.index.index_store import store_at
from ramify.tools.search.searcher import open_index
from tests.faults import fault
from tests.tools.fakes import WordEncoder
from tests.tools.index.test_index import write_records
from tests.tools.index.test_updates import search_all

Location = str | Path
ROOT = Path(__file__).parents[3]
BUILD_AND_DIE = """
import sys
from ramify.tools.index import Index
from tests.tools.fakes import WordEncoder
Index.build([sys.argv[1]], sys.argv[2], WordEncoder(dies_after=int(sys.argv[3])), batch_size=10)
"""
SAID = "The north pump was taken apart and cleaned before the winter came over the harbour of the old town. " * 3
QUERIES = ["river 3", "treaty 8", "opera enzyme", "number 40", "harbour 13 wing"]


class StoreContract:
    """The contract, as tests."""

    @pytest.fixture
    @abstractmethod
    def where(self, tmp_path: Path) -> Location:
        """A location without an index."""

    @abstractmethod
    def held_by_another(self, where: Location) -> AbstractContextManager[None]:
        """Let another process write the index in the block."""

    keeps_the_old_state = True
    """Whether the previous state is searched after a killed update."""

    def check_half_written(self, where: Location) -> None:
        """Assert that the index of a killed build says what to do."""
        with pytest.raises(IndexingError, match=r"half-written — run `ramify index .* again"):
            Index.open(where)

    def results(self, where: Location) -> object:
        """Return what is found; other stores may rank words differently, and give what vectors find."""
        return search_all(Path(where))

    @pytest.fixture
    def papers(self, tmp_path: Path) -> Path:
        (tmp_path / "papers").mkdir()
        return tmp_path / "papers"

    @pytest.fixture
    def records(self, papers: Path) -> Path:
        return write_records(papers / "records.jsonl", range(30))

    def test_every_passage_is_found_with_its_metadata(self, where: Location, records: Path) -> None:
        built = build(records, where)
        index = opened(where)
        assert (built.documents, built.passages, len(index), index.ids()) == (30, 30, 30, names(range(30)))
        [[hit]] = index.search(["river 21"], 1)
        assert (hit.id, hit.source, hit.text) == ("r21", "records.jsonl#r21", "About river number 21 and wing.")
        assert hit.metadata == {
            "topic": "river", "number": 21, "tags": ["wing", "all"], "even": False, "title": "river 21",
            "path": str(records),
        }  # fmt: skip
        assert [document.id for document in index.get_by_ids(["r7", "none", "r3"])] == ["r7", "r3"]
        [document] = index.get_by_ids(["r21"])
        assert (document.page_content, document.metadata) == (hit.text, {**hit.metadata, "source": hit.source})

    def test_vectors_give_the_order_of_cosines_and_words_what_is_written(self, where: Location, records: Path) -> None:
        build(records, where)
        index = opened(where)
        for hits in index.search(QUERIES, 10, hybrid=False):
            assert [(hit.score, hit.id) for hit in hits] == sorted(
                ((hit.score, hit.id) for hit in hits), key=lambda pair: (-pair[0], pair[1])
            )
        [query] = index.embeddings.encode_queries([QUERIES[0]])
        [hit, *_] = index.search(QUERIES[:1], 3)[0]
        [vector] = index.embeddings.encode_documents([f"{hit.metadata['title']}\n{hit.text}"])
        assert hit.score == pytest.approx(float(vector @ query), abs=1e-5)
        assert found(index, "number 17", dense=False)[0] == "r17"
        assert index.search(["?!", "zebra"], 3, dense=False) == [[], []]
        assert index.search([]) == []
        assert len(index.search(["river"], 500)[0]) == 30
        with pytest.raises(UsageError, match=r"search\.hops is not an option"):
            index.search(["river"], options={"hops": 2})

    def test_other_forms_of_a_word_and_words_without_accents_are_found(self, where: Location) -> None:
        texts = ["The harbours of Kraków were dredged.", "An opera in Lyon.", "국어를 배우다"]
        index = Index.from_texts(texts, WordEncoder(), ids=["a", "b", "c"], path=where)
        for query, id in (("harbour", "a"), ("Krakow dredging", "a"), ("operas", "b"), ("국어", "c")):
            assert found(index, query, dense=False) == [id]

    def test_filters_are_exact(self, where: Location, records: Path) -> None:
        build(records, where)
        index = opened(where)
        filters: list[tuple[dict[str, Any], Iterable[int]]] = [
            ({"topic": "opera"}, range(4, 30, 7)),
            ({"topic": ["opera", "wing"]}, [n for n in range(30) if n % 7 in (1, 4)]),
            ({"tags": "engine", "even": True}, [n for n in range(30) if n % 5 == 2 and n % 2 == 0]),
            ({"even": 1}, range(0, 30, 2)),
            ({"number": 13}, [13]),
            ({"number": 13.0}, [13]),
            ({"number": "13"}, []),
            ({"nothing": None}, []),
            ({"topic": []}, []),
            ({"source": "records.jsonl#r8"}, [8]),
            ({"topic' OR 1=1 --": "' OR 1=1 --"}, []),
        ]
        for where_field, numbers in filters:
            for how in ({}, {"hybrid": False}, {"mmr": 0.7}):
                assert sorted(found(index, "treaty", 100, filter=where_field, **how)) == names(numbers), where_field
        every = found(index, "river 3", 100, hybrid=False)
        best = [id for id in every if int(id[1:]) % 7 == 5][:3]
        assert found(index, "river 3", 3, hybrid=False, filter={"topic": "enzyme"}) == best, "the best that match, not among the best"

    def test_a_section_fills_no_more_than_it_may(self, where: Location, papers: Path) -> None:
        guide = f"# Pumps\n{'A pump turns water. ' * 200}\n# Valves\n{'A valve holds water. ' * 20}\n"
        (papers / "guide.md").write_text(guide, encoding="utf-8")
        build(papers, where)
        first, spread = (opened(where).search(["turns water"], 3, per_section=per)[0] for per in (None, 1))
        assert [hit.metadata["heading"] for hit in first] == ["Pumps"] * 3
        assert [hit.metadata["heading"] for hit in spread][:2] == ["Pumps", "Valves"]

    def test_an_update_encodes_what_changed_and_finds_what_a_new_index_finds(self, where: Location, records: Path, tmp_path: Path) -> None:
        first = build(records, where)
        assert (first.added, first.passages, first.encoded) == (30, 30, 30)
        again = Index.build([records], where, encoder := WordEncoder())
        assert (again.unchanged, again.encoded, encoder.encoded) == (30, 0, [])
        write_records(records, range(5, 35), r7="Rewritten about a volcano.")
        update = Index.build([records], where, encoder := WordEncoder())
        assert (update.added, update.changed, update.unchanged, update.removed, update.passages) == (5, 1, 24, 5, 30)
        assert len(encoder.encoded) == update.encoded == 6
        index = opened(where)
        assert (index.ids(), found(index, "volcano", 1)) == (names(range(5, 35)), ["r7"])
        build(records, tmp_path / "new")
        assert self.results(where) == self.results(tmp_path / "new")

    def test_a_text_that_moved_is_not_encoded_again(self, where: Location, papers: Path) -> None:
        records = papers / "records.jsonl"
        for id, encoded in (("old", 1), ("new", 0)):
            records.write_text(json.dumps({"id": id, "title": "Pumps", "text": "The pump stands in the cellar."}), encoding="utf-8")
            assert build(records, where).encoded == encoded
        [[hit]] = opened(where).search(["pump"], 5)
        assert (hit.id, hit.score > 0.1) == ("new", True)

    def test_deleted_files_are_removed_and_other_paths_kept(self, where: Location, tmp_path: Path) -> None:
        for name in ("a/one.txt", "a/two.txt", "b/three.txt"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(f"Text of {name}.", encoding="utf-8")
        Index.build([tmp_path / "a", tmp_path / "b"], where, WordEncoder(), label=["source"])
        (tmp_path / "a" / "one.txt").unlink()
        built = build(tmp_path / "a", where)
        assert (built.removed, built.documents) == (1, 2)
        assert opened(where).ids() == ["three.txt", "two.txt"]
        assert opened(where).manifest.label == ["source"], "as it was made"

    def test_the_same_name_in_two_folders_is_two_documents(self, where: Location, tmp_path: Path) -> None:
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "readme.txt").write_text(f"This is {folder}.", encoding="utf-8")
            build(tmp_path / folder, where)
        assert opened(where).ids() == ["readme.txt", "readme.txt@2"]

    def test_a_text_in_two_files_is_found_once_and_restored(self, where: Location, papers: Path) -> None:
        for name in ("a.txt", "b.txt"):
            (papers / name).write_text(SAID, encoding="utf-8")
        built = build(papers, where)
        assert (built.passages, built.hidden) == (1, {"twin": 1})
        [[hit]] = opened(where).search(["pump"], 5)
        assert (hit.id, [place["source"] for place in hit.metadata["also"]]) == ("a.txt", ["b.txt"])
        (papers / "a.txt").unlink()
        assert build(papers, where).hidden == {}
        [[hit]] = opened(where).search(["pump"], 5)
        assert (hit.source, "also" in hit.metadata) == ("b.txt", False)

    def test_texts_are_added_replaced_and_deleted(self, where: Location) -> None:
        index = Index.from_texts(["A river.", "A wing."], WordEncoder(), [{"n": 1}, {"n": 2}], ids=["a", "b"], path=where)
        assert index.add_texts(["An engine.", "A treaty."], ids=["b", "c"]) == ["b", "c"]
        assert (index.ids(), index.manifest.documents) == (["a", "b", "c"], 3)
        assert index.search(["engine"], 1)[0][0].text == "An engine."
        index.add_texts(["The river floods again. " * 200], ids=["long"])
        assert {"long", "long~2"} < {*index.ids()}
        assert index.delete(["a", "long", "nobody"])
        assert (index.ids(), opened(where).ids(), index.get_by_ids(["a"])) == (["b", "c"], ["b", "c"], [])
        index.delete(["b", "c"])
        assert (len(index), index.search(["river"])) == (0, [[]])

    @fault(
        "processes",
        "killed while an index is built",
        sees="search says that it is half-written; a folder is searched by words, and says so",
        kept="what was encoded; the same command resumes",
        code="killed",
    )
    def test_a_killed_build_is_no_index_and_is_resumed(self, where: Location, records: Path, tmp_path: Path) -> None:
        write_records(records, range(100))
        killed(records, where, 55)
        self.check_half_written(where)
        Index.build([records], where, encoder := WordEncoder(), batch_size=10)
        assert 0 < len(encoder.encoded) <= 100 - 55 + 10
        Index.build([records], tmp_path / "new", WordEncoder(), batch_size=10)
        assert self.results(where) == self.results(tmp_path / "new")

    @fault(
        "processes",
        "killed while an index is updated",
        sees="nothing: the old index is searched",
        kept="the old index; what was encoded",
        code="killed",
    )
    def test_a_killed_update_leaves_the_old_index_and_is_resumed(self, where: Location, records: Path, tmp_path: Path) -> None:
        built_elsewhere(records, where)
        build(records, tmp_path / "new")
        write_records(records, range(90), r3="Rewritten.")
        killed(records, where, 25)
        if self.keeps_the_old_state:
            assert self.results(where) == self.results(tmp_path / "new")
        Index.build([records], where, encoder := WordEncoder(), batch_size=10)
        assert 0 < len(encoder.encoded) <= 61 - 25 + 10
        Index.build([records], tmp_path / "new", WordEncoder(), batch_size=10)
        assert self.results(where) == self.results(tmp_path / "new")

    @fault(
        "processes",
        "two writers of one index",
        sees="error: another process is writing the index — wait",
        kept="the index, and the first writer's work",
        code=1,
    )
    def test_a_second_writer_is_refused(self, where: Location, records: Path) -> None:
        build(records, where)
        write_records(records, range(40))
        with self.held_by_another(where), pytest.raises(IndexingError, match=r"is writing the index .* wait until it has finished"):
            build(records, where)
        assert len(opened(where)) == 30
        assert build(records, where).added == 10

    @fault("index", "index of another embedding", sees="one error that names both", kept="the index as it was", code=1)
    @fault("index", "index with another length of passages", sees="one error that names both", kept="the index as it was", code=1)
    def test_other_options_are_refused(self, where: Location, records: Path) -> None:
        build(records, where)
        with pytest.raises(IndexingError, match="is made with the embedding 'langchain:WordEncoder', not 'other'"):
            Index.open(where, WordEncoder("other"))
        with pytest.raises(IndexingError, match="embedding 'langchain:WordEncoder', not 'other' — use the same options"):
            Index.build([records], where, WordEncoder("other"))
        with pytest.raises(IndexingError, match="chunk_tokens '300', not '50'"):
            Index.build([records], where, WordEncoder(), chunk_tokens=50)
        with pytest.raises(IndexingError, match=r"made with label '', not 'topic' — .* another (--out folder|collection)"):
            Index.build([records], where, WordEncoder(), label=["topic"])
        assert build(records, where).encoded == 0

    @fault("index", "no index at the given path", sees="one error that names the command to build one", kept="nothing was there", code=1)
    def test_no_index_is_an_error_and_so_is_nothing_to_read(self, where: Location, papers: Path) -> None:
        with pytest.raises(IndexingError, match=r"there is no index in '.*' — .*`ramify index PATH… --out"):
            Index.open(where)
        (papers / "empty.txt").write_bytes(b"")
        with pytest.raises(InputError, match="nothing readable"):
            build(papers, where)
        with pytest.raises(IndexingError, match="there is no index in"):
            Index.open(where)
        assert store_at(where).manifest() is None

    def test_it_is_opened_again_when_it_has_changed(self, where: Location) -> None:
        Index.from_texts(["A river."], Minilm(), ids=["a"], path=where)
        first = open_index(where)
        assert open_index(where) is first
        Index.from_texts(["A wing."], Minilm(), ids=["b"], path=where)
        assert open_index(where).manifest.passages == 2
        before = store_at(where).fingerprint()
        store_at(where).describe("On rivers.")
        assert (open_index(where).manifest.description, open_index(where).ids()) == ("On rivers.", ["a", "b"])
        assert store_at(where).fingerprint() != before
        Index.from_texts(["A treaty."], Minilm(), ids=["c"], path=where)
        assert open_index(where).manifest.description == "On rivers."

    def test_what_was_skipped_is_reported_again_and_progress_ends_at_its_total(self, where: Location, papers: Path) -> None:
        write_records(papers / "records.jsonl", range(25))
        with (papers / "records.jsonl").open("a", encoding="utf-8") as file:
            file.write("no record\n")
        steps: list[tuple[int, int | None, str]] = []
        first = Index.build([papers], where, WordEncoder(), batch_size=10, progress=lambda *step: steps.append(step))
        encoded = [step for step in steps if step[0] and step[2] == "passages"]
        assert encoded == [
            (10, 25, "passages"),
            (20, 25, "passages"),
            (25, 25, "passages"),
        ]
        assert build(papers, where).skipped == first.skipped == [("records.jsonl#26", "not a JSON record")]


class Minilm(WordEncoder):
    """Stands for the encoder that is loaded by its name."""

    def __init__(self) -> None:
        super().__init__("minilm")


def build(path: Path, where: Location) -> Any:
    return Index.build([path], where, WordEncoder())


def opened(where: Location) -> Index:
    return Index.open(where, WordEncoder())


def names(numbers: Iterable[int]) -> list[str]:
    return sorted(f"r{number}" for number in numbers)


def found(index: Index, query: str, k: int = 5, **how: Any) -> list[str]:
    return [str(hit.id) for hit in index.search([query], k, **how)[0]]


def by_vectors(where: Location) -> list[list[tuple[str, float]]]:
    """What is found by vectors, of all and of some."""
    index = opened(where)
    hits = [*index.search(QUERIES, 6, hybrid=False), *index.search(QUERIES, 6, hybrid=False, filter={"even": True})]
    return [[(str(hit.id), round(hit.score, 5)) for hit in some] for some in hits]


def built_elsewhere(corpus: Path, where: Location, dies_after: int = 10**9) -> int:
    """Build in another process, which is killed after it has encoded so many texts; return its exit code."""
    program = [sys.executable, "-c", BUILD_AND_DIE, str(corpus), str(where), str(dies_after)]
    return subprocess.run(program, cwd=ROOT, check=False).returncode


def killed(corpus: Path, where: Location, texts: int) -> None:
    """Build in another process, which is killed on the way."""
    assert built_elsewhere(corpus, where, texts) == -signal.SIGKILL
